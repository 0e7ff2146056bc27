{{/* The server's configuration: the values', with the files of Secrets filled in. */}}

{{- define "gatherd.config" -}}
{{- $config := deepCopy .Values.config }}
{{- if .Values.tls.existingSecret }}
{{- $tls := dict "certificate" "/etc/gatherd/tls/tls.crt" "key" "/etc/gatherd/tls/tls.key" }}
{{- if .Values.tls.clientCa }}
{{- $_ := set $tls "client_ca" "/etc/gatherd/tls/ca.crt" }}
{{- end }}
{{- $_ := set $config.server "tls" $tls }}
{{- end }}
{{- with .Values.auth }}
{{- if .existingSecret }}
{{- $auth := dict }}
{{- if .readTokensKey }}
{{- $_ := set $auth "read_tokens_file" "/etc/gatherd/auth/read-tokens" }}
{{- end }}
{{- if .writeTokensKey }}
{{- $_ := set $auth "write_tokens_file" "/etc/gatherd/auth/write-tokens" }}
{{- end }}
{{- $_ := set $config.server "auth" $auth }}
{{- end }}
{{- end }}
{{- toYaml $config }}
{{- end }}

{{- define "gatherd.grpcPort" -}}
{{- include "gatherd.port" .Values.config.server.address }}
{{- end }}

{{- define "gatherd.metricsPort" -}}
{{- include "gatherd.port" .Values.config.server.metrics_address }}
{{- end }}

{{/* Where kubelet asks for health: it knows neither certificates nor tokens. */}}
{{- define "gatherd.healthPort" -}}
{{- include "gatherd.port" (default .Values.config.server.address .Values.config.server.health_address) }}
{{- end }}

{{/* From SIGTERM to the end: docs/operations.md. The defaults are the server's. */}}
{{- define "gatherd.drainSeconds" -}}
{{- $server := .Values.config.server }}
{{- $delay := 0 }}
{{- if hasKey $server "drain_delay" }}
{{- $delay = include "gatherd.seconds" $server.drain_delay }}
{{- end }}
{{- $timeout := 10 }}
{{- if hasKey $server "shutdown_timeout" }}
{{- $timeout = include "gatherd.seconds" $server.shutdown_timeout }}
{{- end }}
{{- add (int64 $delay) (int64 $timeout) }}
{{- end }}

{{/* Ten seconds for tiers to be flushed and the process to end. */}}
{{- define "gatherd.graceSeconds" -}}
{{- $needed := add (include "gatherd.drainSeconds" . | int64) (int64 .Values.preStopSeconds) 10 }}
{{- default $needed (int64 .Values.terminationGracePeriodSeconds) }}
{{- end }}

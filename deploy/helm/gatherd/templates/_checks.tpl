{{/* What cannot work is refused here, in words, rather than by a pod that does not
start. What a single value may be is up to values.schema.json. */}}

{{- define "gatherd.checks" -}}
{{- include "gatherd.checkNames" . }}
{{- include "gatherd.checkPorts" . }}
{{- include "gatherd.checkAccess" . }}
{{- include "gatherd.checkDevices" . }}
{{- include "gatherd.checkMemory" . }}
{{- include "gatherd.checkTimes" . }}
{{- include "gatherd.checkPaths" . }}
{{- include "gatherd.checkReplicas" . }}
{{- end }}

{{- define "gatherd.checkNames" -}}
{{- $tables := dict }}
{{- range .Values.config.tables }}
{{- if hasKey $tables .name }}
{{- fail (printf "config.tables has two tables of the name %s" .name) }}
{{- end }}
{{- $_ := set $tables .name true }}
{{- end }}
{{- /* What the chart computes from the configuration must hold. */}}
{{- $read := list "ADDRESS" "METRICS_ADDRESS" "HEALTH_ADDRESS" "MAX_INFLIGHT_BYTES" "DRAIN_DELAY" "SHUTDOWN_TIMEOUT" "SNAPSHOT_DIRECTORY" }}
{{- range .Values.extraEnv }}
{{- $setting := trimPrefix "GATHERD_SERVER_" .name }}
{{- if and (ne $setting .name) (has $setting $read) }}
{{- fail (printf "extraEnv has %s, which ports, memory and times of the pod would not follow; set config.server.%s" .name (lower $setting)) }}
{{- end }}
{{- end }}
{{- end }}

{{- define "gatherd.checkPorts" -}}
{{- $server := .Values.config.server }}
{{- $ports := dict }}
{{- range $key := list "address" "metrics_address" "health_address" }}
{{- $address := get $server $key }}
{{- if $address }}
{{- if hasPrefix "unix:" $address }}
{{- fail (printf "config.server.%s is %s: callers and probes come over the network; allowed: HOST:PORT, as in 0.0.0.0:7400" $key $address) }}
{{- end }}
{{- if regexMatch "^(127\\.|localhost:|\\[::1\\])" $address }}
{{- fail (printf "config.server.%s is %s, which nobody outside the pod reaches; allowed: 0.0.0.0:PORT or [::]:PORT" $key $address) }}
{{- end }}
{{- $port := include "gatherd.port" $address }}
{{- if eq $port "0" }}
{{- fail (printf "config.server.%s is %s: Services need to know the port; allowed: 1 to 65535" $key $address) }}
{{- end }}
{{- if hasKey $ports $port }}
{{- fail (printf "config.server.%s and config.server.%s have the same port, %s" (get $ports $port) $key $port) }}
{{- end }}
{{- $_ := set $ports $port $key }}
{{- end }}
{{- end }}
{{- end }}

{{- define "gatherd.checkAccess" -}}
{{- $server := .Values.config.server }}
{{- if and .Values.tls.existingSecret $server.tls }}
{{- fail "tls.existingSecret and config.server.tls both say where the certificate is; give one of them" }}
{{- end }}
{{- if and .Values.auth.existingSecret $server.auth }}
{{- fail "auth.existingSecret and config.server.auth both say where the tokens are; give one of them" }}
{{- end }}
{{- if and .Values.tls.clientCa (not .Values.tls.existingSecret) }}
{{- fail "tls.clientCa needs tls.existingSecret, whose ca.crt it uses" }}
{{- end }}
{{- with .Values.auth }}
{{- if and .existingSecret (not .readTokensKey) (not .writeTokensKey) }}
{{- fail "auth.existingSecret is given, and neither auth.readTokensKey nor auth.writeTokensKey: nobody could call" }}
{{- end }}
{{- end }}
{{- $tls := or .Values.tls.existingSecret $server.tls }}
{{- $auth := or .Values.auth.existingSecret $server.auth }}
{{- if and $auth (not $tls) (ne .Values.service.type "ClusterIP") }}
{{- fail (printf "service.type %s takes tokens outside the cluster, without TLS anybody on the way can read them; set tls.existingSecret, or service.type ClusterIP" .Values.service.type) }}
{{- end }}
{{- if and $tls (not $server.health_address) }}
{{- fail "kubelet's probes know no TLS: set config.server.health_address, as in 0.0.0.0:7402" }}
{{- end }}
{{- end }}

{{- define "gatherd.checkDevices" -}}
{{- $devices := default "auto" .Values.config.devices }}
{{- $count := int .Values.gpu.count }}
{{- if kindIs "slice" $devices }}
{{- range $devices }}
{{- if ge (int .) $count }}
{{- fail (printf "config.devices names GPU %d; gpu.count is %d, and the GPUs of a pod have the numbers 0 to gpu.count - 1" (int .) $count) }}
{{- end }}
{{- end }}
{{- else if and (eq $devices "cuda") (eq $count 0) }}
{{- fail "config.devices is cuda and gpu.count is 0: the server would end with exit code 3; set gpu.count, or devices to auto or cpu" }}
{{- else if and (eq $devices "cpu") (gt $count 0) }}
{{- fail (printf "config.devices is cpu and gpu.count is %d: the GPUs would be idle; set devices to cuda, or gpu.count to 0" $count) }}
{{- end }}
{{- if and .Values.computeDomain.enabled (eq $count 0) }}
{{- fail "computeDomain.enabled needs gpu.count of 1 or more" }}
{{- end }}
{{- end }}

{{- define "gatherd.checkMemory" -}}
{{- $needed := include "gatherd.neededBytes" . | int64 }}
{{- with .Values.resources.limits.memory }}
{{- $limit := include "gatherd.quantity" . | int64 }}
{{- if lt $limit $needed }}
{{- fail (printf "resources.limits.memory is %v, and the tables, requests in flight and the process need %s (docs/capacity.md); raise it, or leave it empty to have it computed" . (include "gatherd.neededMemory" $)) }}
{{- end }}
{{- end }}
{{- with .Values.resources.requests.memory }}
{{- $limit := default (include "gatherd.neededMemory" $) $.Values.resources.limits.memory }}
{{- if gt (include "gatherd.quantity" . | int64) (include "gatherd.quantity" $limit | int64) }}
{{- fail (printf "resources.requests.memory is %v, more than the limit of %v" . $limit) }}
{{- end }}
{{- end }}
{{- end }}

{{- define "gatherd.checkTimes" -}}
{{- $drain := include "gatherd.drainSeconds" . | int64 }}
{{- $needed := add $drain (int64 .Values.preStopSeconds) }}
{{- $grace := int64 .Values.terminationGracePeriodSeconds }}
{{- if and (gt $grace 0) (le $grace $needed) }}
{{- fail (printf "terminationGracePeriodSeconds is %d: the server would be killed while it drains; preStopSeconds, drain_delay and shutdown_timeout take %d, so allowed: more than that, or 0 to have it computed" $grace $needed) }}
{{- end }}
{{- range $name, $probe := .Values.probes }}
{{- if gt (int $probe.timeoutSeconds) (int $probe.periodSeconds) }}
{{- fail (printf "probes.%s.timeoutSeconds is longer than its periodSeconds" $name) }}
{{- end }}
{{- end }}
{{- end }}

{{/* The folders of a pod where the server may write what outlives the container, as
a list in JSON. */}}
{{- define "gatherd.writablePaths" -}}
{{- $paths := list }}
{{- if .Values.persistence.enabled }}
{{- $paths = append $paths .Values.persistence.mountPath }}
{{- end }}
{{- range .Values.extraVolumeMounts }}
{{- if not .readOnly }}
{{- $paths = append $paths .mountPath }}
{{- end }}
{{- end }}
{{- toJson $paths }}
{{- end }}

{{/* The folders of a pod where it may read what others have put there. */}}
{{- define "gatherd.readablePaths" -}}
{{- $paths := include "gatherd.writablePaths" . | fromJsonArray }}
{{- if or .Values.data.existingClaim .Values.data.fetch.image }}
{{- $paths = append $paths .Values.data.mountPath }}
{{- end }}
{{- range .Values.extraVolumeMounts }}
{{- $paths = append $paths .mountPath }}
{{- end }}
{{- toJson $paths }}
{{- end }}

{{/* Fails unless `path` is below one of `mounts`, volumes of that `kind`. */}}
{{- define "gatherd.checkPath" -}}
{{- $found := false }}
{{- range $mount := .mounts }}
{{- if or (eq $.path $mount) (hasPrefix (printf "%s/" (trimSuffix "/" $mount)) $.path) }}
{{- $found = true }}
{{- end }}
{{- end }}
{{- if not $found }}
{{- fail (printf "%s is %s, which is on no %s; %s" .what .path .kind .hint) }}
{{- end }}
{{- end }}

{{- define "gatherd.checkPaths" -}}
{{- include "gatherd.checkAccessFiles" . }}
{{- include "gatherd.checkSources" . }}
{{- include "gatherd.checkStores" . }}
{{- end }}

{{/* Those of the configuration itself; Secrets of the chart have volumes. */}}
{{- define "gatherd.checkAccessFiles" -}}
{{- $mounts := include "gatherd.readablePaths" . | fromJsonArray }}
{{- $server := .Values.config.server }}
{{- range $section := list "tls" "auth" }}
{{- $hint := printf "set %s.existingSecret, or mount its files by extraVolumes and extraVolumeMounts" $section }}
{{- range $key, $path := default dict (get $server $section) }}
{{- include "gatherd.checkPath" (dict "mounts" $mounts "kind" "volume" "hint" $hint "path" $path "what" (printf "config.server.%s.%s" $section $key)) }}
{{- end }}
{{- end }}
{{- end }}

{{- define "gatherd.checkSources" -}}
{{- $mounts := include "gatherd.readablePaths" . | fromJsonArray }}
{{- $check := dict "mounts" $mounts "kind" "volume" "hint" "set data.existingClaim or data.fetch, and start the path with data.mountPath" }}
{{- range .Values.config.tables }}
{{- $table := .name }}
{{- range $key, $path := default dict .source }}
{{- include "gatherd.checkPath" (merge (dict "path" $path "what" (printf "`%s` of the source of table %s" $key $table)) $check) }}
{{- end }}
{{- end }}
{{- end }}

{{- define "gatherd.checkStores" -}}
{{- $mounts := include "gatherd.writablePaths" . | fromJsonArray }}
{{- $check := dict "mounts" $mounts "kind" "volume that can be written" "hint" "set persistence.enabled, and start the path with persistence.mountPath" }}
{{- range .Values.config.tables }}
{{- $table := .name }}
{{- range .tiers }}
{{- if .rocksdb }}
{{- include "gatherd.checkPath" (merge (dict "path" .rocksdb.path "what" (printf "the rocksdb path of table %s" $table)) $check) }}
{{- end }}
{{- end }}
{{- end }}
{{- with .Values.config.server.snapshot_directory }}
{{- include "gatherd.checkPath" (merge (dict "path" . "what" "config.server.snapshot_directory") $check) }}
{{- end }}
{{- end }}

{{- define "gatherd.checkReplicas" -}}
{{- if and .Values.persistence.enabled (eq .Values.mode "replicas") }}
{{- fail "persistence.enabled gives each pod a volume of its own, which mode replicas cannot; set mode: statefulset" }}
{{- end }}
{{- with .Values.autoscaling }}
{{- if .enabled }}
{{- if ne $.Values.mode "replicas" }}
{{- fail "autoscaling.enabled needs mode: replicas" }}
{{- end }}
{{- if gt (int .minReplicas) (int .maxReplicas) }}
{{- fail (printf "autoscaling.minReplicas is %d, more than maxReplicas, %d" (int .minReplicas) (int .maxReplicas)) }}
{{- end }}
{{- if and (not .targetCPUUtilizationPercentage) (not .metrics) }}
{{- fail "autoscaling.enabled needs targetCPUUtilizationPercentage or metrics" }}
{{- end }}
{{- if and .targetCPUUtilizationPercentage (not $.Values.resources.requests.cpu) }}
{{- fail "autoscaling.targetCPUUtilizationPercentage is a part of resources.requests.cpu, which is empty" }}
{{- end }}
{{- end }}
{{- end }}
{{- if and .Values.podDisruptionBudget.enabled (eq (toString .Values.podDisruptionBudget.maxUnavailable) "0") }}
{{- fail "podDisruptionBudget.maxUnavailable is 0: no node could ever be drained; allowed: 1 or more, or a percentage" }}
{{- end }}
{{- end }}

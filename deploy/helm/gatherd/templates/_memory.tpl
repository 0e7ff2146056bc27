{{/* What a server takes of its host's memory; docs/capacity.md has the sums, and a
test holds them to `gatherd --check`. */}}

{{/* The rows of a table that live in host memory. Where there may be no GPU, gpu
tiers do too, and the last tier holds all that those above it have. */}}
{{- define "gatherd.hostRows" -}}
{{- $cpu := has .devices (list "cpu" "auto") }}
{{- $rows := 0 }}
{{- range .table.tiers }}
{{- if .host }}
{{- $rows = include "gatherd.number" .host.rows }}
{{- else if and .gpu $cpu }}
{{- $rows = include "gatherd.number" .gpu.rows }}
{{- end }}
{{- end }}
{{- $rows }}
{{- end }}

{{/* Bytes of a table in host memory: rows with some spare ones, index, stamps. */}}
{{- define "gatherd.tableBytes" -}}
{{- $rows := include "gatherd.hostRows" . | int64 }}
{{- if eq $rows 0 }}
{{- 0 }}
{{- else }}
{{- $sizes := dict "float32" 4 "float16" 2 "bfloat16" 2 "int8" 1 }}
{{- $type := default "float32" .table.data_type }}
{{- $row := mul (int64 .table.dim) (get $sizes $type) }}
{{- if eq $type "int8" }}
{{- $row = add $row 4 }}
{{- end }}
{{- $slots := add 1 $rows (min 65536 (max 4 (div $rows 32))) }}
{{- $bytes := mul $slots (div (add $row 3) 4) 4 }}
{{- if eq (default "hashed" .table.key_space) "dense" }}
{{- $bytes = add $bytes (mul $rows 4) }}
{{- else }}
{{- $bytes = add $bytes (mul (add 1 (div (mul $rows 10) 35)) 64) }}
{{- end }}
{{- if ne (default "none" .table.eviction) "none" }}
{{- $bytes = add $bytes (mul $slots 4) }}
{{- end }}
{{- add $bytes 12288 }}
{{- end }}
{{- end }}

{{/* Bytes of requests that gRPC is reading, which nobody has counted yet: what the
server lets it take. */}}
{{- define "gatherd.unreadBytes" -}}
{{- $server := .Values.config.server }}
{{- $inflight := include "gatherd.number" (default "1GiB" $server.max_inflight_bytes) | int64 }}
{{- $message := include "gatherd.number" (default "64MiB" $server.max_message_bytes) | int64 }}
{{- max $inflight (mul 2 $message) 134217728 }}
{{- end }}

{{/* Bytes that a pod needs: tables, requests and replies in flight, requests being
read, 512 MiB for the process, 1 GiB for each GPU's driver, 256 MiB for each store,
/dev/shm. */}}
{{- define "gatherd.neededBytes" -}}
{{- $config := .Values.config }}
{{- $devices := default "auto" $config.devices }}
{{- $bytes := include "gatherd.number" (default "1GiB" $config.server.max_inflight_bytes) | int64 }}
{{- $bytes = add $bytes (include "gatherd.unreadBytes" . | int64) 536870912 (mul (int64 .Values.gpu.count) 1073741824) }}
{{- range $config.tables }}
{{- $bytes = add $bytes (include "gatherd.tableBytes" (dict "table" . "devices" $devices) | int64) }}
{{- range .tiers }}
{{- if .rocksdb }}
{{- $bytes = add $bytes 268435456 }}
{{- end }}
{{- end }}
{{- end }}
{{- with .Values.sharedMemory }}
{{- $bytes = add $bytes (include "gatherd.quantity" . | int64) }}
{{- end }}
{{- $bytes }}
{{- end }}

{{/* The same as a quantity, rounded up. */}}
{{- define "gatherd.neededMemory" -}}
{{- div (add (include "gatherd.neededBytes" . | int64) 1048575) 1048576 }}Mi
{{- end }}

{{- define "gatherd.resources" -}}
{{- $values := .Values }}
{{- $limit := default (include "gatherd.neededMemory" .) $values.resources.limits.memory -}}
requests:
  {{- with $values.resources.requests.cpu }}
  cpu: {{ . | quote }}
  {{- end }}
  memory: {{ default $limit $values.resources.requests.memory }}
limits:
  {{- with $values.resources.limits.cpu }}
  cpu: {{ . | quote }}
  {{- end }}
  memory: {{ $limit }}
  {{- with $values.hugePages }}
  {{- if .memory }}
  hugepages-{{ .size }}: {{ .memory }}
  {{- end }}
  {{- end }}
  {{- if gt (int $values.gpu.count) 0 }}
  {{ $values.gpu.resourceName }}: {{ int $values.gpu.count }}
  {{- end }}
{{- if $values.computeDomain.enabled }}
claims:
  - name: compute-domain
{{- end }}
{{- end }}

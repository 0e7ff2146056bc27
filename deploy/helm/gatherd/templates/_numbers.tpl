{{/* Numbers with units: those of the configuration and those of Kubernetes. Whole
numbers come from YAML as floats, which print with an exponent. */}}

{{/* A size or a count: 64MiB, 10M, 4096. */}}
{{- define "gatherd.number" -}}
{{- if kindIs "string" . }}
{{- $units := dict "" 1 "K" 1000 "M" 1000000 "G" 1000000000 "KiB" 1024 "MiB" 1048576 "GiB" 1073741824 "TiB" 1099511627776 }}
{{- mul (regexFind "^[0-9]+" . | int64) (get $units (regexFind "[A-Za-z]*$" .)) }}
{{- else }}
{{- int64 . }}
{{- end }}
{{- end }}

{{/* A duration in whole seconds, rounded up: 500ms, 10s, 2m, 0. */}}
{{- define "gatherd.seconds" -}}
{{- $text := toString . }}
{{- $units := dict "" 1000000 "us" 1 "ms" 1000 "s" 1000000 "m" 60000000 }}
{{- $us := mul (regexFind "^[0-9]+" $text | int64) (get $units (regexFind "[a-z]*$" $text)) }}
{{- div (add $us 999999) 1000000 }}
{{- end }}

{{/* A quantity of memory in bytes: 4Gi, 1.5G, 1073741824. */}}
{{- define "gatherd.quantity" -}}
{{- if kindIs "string" . }}
{{- $units := dict "" 1 "k" 1000 "M" 1000000 "G" 1000000000 "T" 1000000000000 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 }}
{{- mulf (regexFind "^[0-9.]+" . | float64) (get $units (regexFind "[A-Za-z]*$" .)) | int64 }}
{{- else }}
{{- int64 . }}
{{- end }}
{{- end }}

{{/* The port of HOST:PORT or [IPV6]:PORT. */}}
{{- define "gatherd.port" -}}
{{- regexFind "[0-9]+$" . }}
{{- end }}

{{/* Names and labels. */}}

{{- define "gatherd.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 52 | trimSuffix "-" }}
{{- end }}

{{/* At most 52 characters: -headless and the number of a pod come behind it. */}}
{{- define "gatherd.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" }}
{{- else if contains (include "gatherd.name" .) .Release.Name }}
{{- .Release.Name | trunc 52 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "gatherd.name" .) | trunc 52 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "gatherd.releaseLabels" -}}
app.kubernetes.io/name: {{ include "gatherd.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* Of the servers' pods, and of no other pod of the release. */}}
{{- define "gatherd.selectorLabels" -}}
{{ include "gatherd.releaseLabels" . }}
app.kubernetes.io/component: server
{{- end }}

{{- define "gatherd.labels" -}}
{{ include "gatherd.releaseLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "gatherd.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "gatherd.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "gatherd.image" -}}
{{- with .Values.image }}
{{- if .digest }}
{{- printf "%s@%s" .repository .digest }}
{{- else }}
{{- printf "%s:%s" .repository (default $.Chart.AppVersion .tag) }}
{{- end }}
{{- end }}
{{- end }}

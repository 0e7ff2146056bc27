{{/* Volumes, and where the server sees them. */}}

{{- define "gatherd.volumes" -}}
- name: config
  configMap:
    name: {{ include "gatherd.fullname" . }}
{{- if .Values.tls.existingSecret }}
- name: tls
  secret:
    secretName: {{ .Values.tls.existingSecret }}
    # Read by the group, which is fsGroup.
    defaultMode: 0440
{{- end }}
{{- with .Values.auth }}
{{- if .existingSecret }}
- name: auth
  secret:
    secretName: {{ .existingSecret }}
    defaultMode: 0440
    items:
      {{- with .readTokensKey }}
      - {key: {{ . }}, path: read-tokens}
      {{- end }}
      {{- with .writeTokensKey }}
      - {key: {{ . }}, path: write-tokens}
      {{- end }}
{{- end }}
{{- end }}
{{- with .Values.data }}
{{- if .existingClaim }}
- name: data
  persistentVolumeClaim:
    claimName: {{ .existingClaim }}
    {{- if not .fetch.image }}
    readOnly: true
    {{- end }}
{{- else if .fetch.image }}
- name: data
  {{- if .sizeLimit }}
  emptyDir:
    sizeLimit: {{ .sizeLimit }}
  {{- else }}
  emptyDir: {}
  {{- end }}
{{- end }}
{{- if .fetch.image }}
- name: tmp
  emptyDir: {}
{{- end }}
{{- end }}
{{- with .Values.sharedMemory }}
- name: shared-memory
  emptyDir:
    medium: Memory
    sizeLimit: {{ . }}
{{- end }}
{{- with .Values.hugePages }}
{{- if .memory }}
- name: hugepages
  emptyDir:
    medium: HugePages-{{ .size }}
{{- end }}
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "gatherd.volumeMounts" -}}
- name: config
  mountPath: /etc/gatherd/config
  readOnly: true
{{- if .Values.tls.existingSecret }}
- name: tls
  mountPath: /etc/gatherd/tls
  readOnly: true
{{- end }}
{{- if .Values.auth.existingSecret }}
- name: auth
  mountPath: /etc/gatherd/auth
  readOnly: true
{{- end }}
{{- with .Values.data }}
{{- if or .existingClaim .fetch.image }}
- name: data
  mountPath: {{ .mountPath }}
  readOnly: true
  {{- with .subPath }}
  subPath: {{ . }}
  {{- end }}
{{- end }}
{{- end }}
{{- with .Values.persistence }}
{{- if .enabled }}
- name: store
  mountPath: {{ .mountPath }}
{{- end }}
{{- end }}
{{- if .Values.sharedMemory }}
- name: shared-memory
  mountPath: /dev/shm
{{- end }}
{{- if .Values.hugePages.memory }}
- name: hugepages
  mountPath: /dev/hugepages
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

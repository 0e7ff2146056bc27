{{/* The pod, the same in both modes. It keeps to the restricted Pod Security
Standard. */}}

{{- define "gatherd.podTemplate" -}}
metadata:
  labels:
    {{- include "gatherd.selectorLabels" . | nindent 4 }}
    app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
    {{- with .Values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  annotations:
    # Another configuration, other pods.
    checksum/config: {{ include "gatherd.config" . | sha256sum }}
    {{- with .Values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ include "gatherd.serviceAccountName" . }}
  automountServiceAccountToken: false
  # Of a Service called gatherd-server they would look like settings.
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ include "gatherd.graceSeconds" . }}
  securityContext:
    {{- include "gatherd.podSecurityContext" . | nindent 4 }}
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.runtimeClassName }}
  runtimeClassName: {{ . }}
  {{- end }}
  {{- with .Values.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  {{- if .Values.computeDomain.enabled }}
  resourceClaims:
    - name: compute-domain
      resourceClaimTemplateName: {{ include "gatherd.fullname" . }}-channel
  {{- end }}
  {{- if .Values.data.fetch.image }}
  initContainers:
    {{- include "gatherd.fetchContainer" . | nindent 4 }}
  {{- end }}
  containers:
    {{- include "gatherd.container" . | nindent 4 }}
  volumes:
    {{- include "gatherd.volumes" . | nindent 4 }}
  {{- with .Values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- if .Values.topologySpreadConstraints }}
  topologySpreadConstraints:
    {{- range .Values.topologySpreadConstraints }}
    -
      {{- toYaml . | nindent 6 }}
      {{- if not .labelSelector }}
      labelSelector:
        matchLabels:
          {{- include "gatherd.selectorLabels" $ | nindent 10 }}
      {{- end }}
    {{- end }}
  {{- end }}
{{- end }}

{{- define "gatherd.podSecurityContext" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
# Large volumes keep their owners if the top has the right one.
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "gatherd.securityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{- define "gatherd.container" -}}
- name: gatherd
  image: {{ include "gatherd.image" . | quote }}
  imagePullPolicy: {{ .Values.image.pullPolicy }}
  # The program is the image's entry point.
  args: [--config=/etc/gatherd/config/gatherd.yaml]
  {{- with .Values.extraEnv }}
  env:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  ports:
    - name: grpc
      containerPort: {{ include "gatherd.grpcPort" . }}
    - name: metrics
      containerPort: {{ include "gatherd.metricsPort" . }}
    {{- if .Values.config.server.health_address }}
    - name: health
      containerPort: {{ include "gatherd.healthPort" . }}
    {{- end }}
  startupProbe:
    {{- include "gatherd.probe" (list . "startup" "") | nindent 4 }}
  readinessProbe:
    {{- include "gatherd.probe" (list . "readiness" "gatherd.v1.EmbeddingService") | nindent 4 }}
  livenessProbe:
    {{- include "gatherd.probe" (list . "liveness" "") | nindent 4 }}
  {{- if gt (int .Values.preStopSeconds) 0 }}
  lifecycle:
    preStop:
      {{- if semverCompare ">=1.30.0-0" .Capabilities.KubeVersion.Version }}
      sleep:
        seconds: {{ int .Values.preStopSeconds }}
      {{- else }}
      exec:
        command: [sleep, {{ int .Values.preStopSeconds | quote }}]
      {{- end }}
  {{- end }}
  resources:
    {{- include "gatherd.resources" . | nindent 4 }}
  securityContext:
    {{- include "gatherd.securityContext" . | nindent 4 }}
  volumeMounts:
    {{- include "gatherd.volumeMounts" . | nindent 4 }}
{{- end }}

{{- define "gatherd.probe" -}}
{{- $root := index . 0 -}}
grpc:
  port: {{ include "gatherd.healthPort" $root }}
  {{- with index . 2 }}
  service: {{ . }}
  {{- end }}
{{- range $key, $value := get $root.Values.probes (index . 1) }}
{{ $key }}: {{ int $value }}
{{- end }}
{{- end }}

{{- define "gatherd.fetchContainer" -}}
- name: fetch
  image: {{ .Values.data.fetch.image | quote }}
  {{- range $key := list "command" "args" "env" "envFrom" }}
  {{- with get $.Values.data.fetch $key }}
  {{ $key }}:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- end }}
  # Within the server's own, which the pod gets in any case.
  resources:
    requests: {cpu: 100m, memory: 256Mi}
    limits: {memory: {{ include "gatherd.neededMemory" . }}}
  securityContext:
    {{- include "gatherd.securityContext" . | nindent 4 }}
  volumeMounts:
    - name: data
      mountPath: {{ .Values.data.mountPath }}
      {{- with .Values.data.subPath }}
      subPath: {{ . }}
      {{- end }}
    - name: tmp
      mountPath: /tmp
{{- end }}

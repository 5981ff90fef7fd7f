{{- define "agw.name" -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "agw.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- define "agw.envoyImage" -}}
{{- if .Values.envoyImage.digest -}}
{{ .Values.envoyImage.repository }}@{{ .Values.envoyImage.digest }}
{{- else -}}
{{ .Values.envoyImage.repository }}:{{ .Values.envoyImage.tag }}
{{- end -}}
{{- end -}}

{{- define "agw.selector" -}}
app.kubernetes.io/name: agent-access-gateway
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "agw.labels" -}}
{{ include "agw.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- end -}}

{{/* No privileges, no token of the Kubernetes API, and the user of the image, whose group may read the secrets. */}}
{{- define "agw.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 999
  runAsGroup: 999
  fsGroup: 999
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: { type: RuntimeDefault }
{{- with .Values.image.pullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "agw.spread" -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{- include "agw.selector" . | nindent 8 }}
{{- end -}}

{{- define "agw.container" -}}
image: {{ include "agw.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext: {{- include "agw.hardened" . | nindent 2 }}
{{- end -}}

{{- define "agw.hardened" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{/* Each program gets only the secrets that it needs, as files: `keys` of the Secret. */}}
{{- define "agw.secrets" -}}
- name: secrets
  secret:
    secretName: {{ .root.Values.secrets.name }}
    defaultMode: 0440
    items:
      {{- range .keys }}
      - { key: {{ . }}, path: {{ . }} }
      {{- end }}
{{- end -}}

{{/* Not empty if the gateway pods have the forward proxy. */}}
{{- define "agw.hasForward" -}}
{{- if and (eq .Values.form "sidecar") (ne (toString .Values.gateway.forwardPort) "off") }}yes{{ end -}}
{{- end -}}

{{- define "agw.settings" -}}
- { name: REDIS_URL_FILE, value: /etc/agw/secrets/redis-url }
- name: AGW_EDGE_ID
  valueFrom: { fieldRef: { fieldPath: metadata.name } }
{{- if eq .Values.form "sidecar" }}
- { name: AGW_FORWARD_PORT, value: {{ .Values.gateway.forwardPort | quote }} }
{{- end }}
{{- range $name, $value := .Values.settings }}
- { name: {{ $name }}, value: {{ $value | quote }} }
{{- end }}
{{- end -}}

{{- define "agw.tls" -}}
- { name: AGW_EXT_PROC_TLS_CERT_FILE, value: /etc/agw/tls/tls.crt }
- { name: AGW_EXT_PROC_TLS_KEY_FILE, value: /etc/agw/tls/tls.key }
- { name: AGW_EXT_PROC_TLS_CA_FILE, value: /etc/agw/tls/ca.crt }
{{- end -}}

{{- define "agw.probes" -}}
startupProbe:
  httpGet: { path: /healthz, port: {{ . }} }
  periodSeconds: 1
  failureThreshold: 60
livenessProbe:
  httpGet: { path: /healthz, port: {{ . }} }
  periodSeconds: 5
  timeoutSeconds: 3
  failureThreshold: 3
readinessProbe:
  httpGet: { path: /readyz, port: {{ . }} }
  periodSeconds: 2
  timeoutSeconds: 2
  failureThreshold: 1
{{- end -}}

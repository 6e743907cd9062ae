{{- /* Names and labels. */ -}}
{{- define "helenus.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else if contains "helenus" .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-helenus" .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "helenus.headless" -}}
{{ include "helenus.fullname" . }}-nodes
{{- end -}}

{{- define "helenus.selector" -}}
app.kubernetes.io/name: helenus
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "helenus.labels" -}}
{{- $own := dict "app.kubernetes.io/name" "helenus" "app.kubernetes.io/instance" .Release.Name
  "app.kubernetes.io/version" .Chart.AppVersion "app.kubernetes.io/managed-by" .Release.Service
  "helm.sh/chart" (printf "%s-%s" .Chart.Name (.Chart.Version | replace "+" "_")) -}}
{{- merge $own .Values.commonLabels | toYaml -}}
{{- end -}}

{{- define "helenus.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "helenus.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "helenus.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}
{{- end -}}

{{- /* Ports that applications connect to, as YAML: name and port of each. */ -}}
{{- define "helenus.listeners" -}}
- {name: cql, port: {{ .Values.cql.port }}}
{{- if eq .Values.cql.topology "mirror" }}
{{- range $i := until (int .Values.cql.mirrorNodes) }}
{{- if $i }}
- {name: cql-{{ $i }}, port: {{ add $.Values.cql.port $i }}}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "helenus.adminScheme" -}}
{{ ternary "HTTPS" "HTTP" (ne .Values.admin.webConfig.existingSecret "") }}
{{- end -}}

{{- /* The settings. What a secret holds comes from the environment. */ -}}
{{- define "helenus.settings" -}}
{{- $v := .Values -}}
{{- $name := include "helenus.fullname" . -}}
{{- $headless := include "helenus.headless" . -}}
{{- $s := deepCopy $v.config -}}
{{- $_ := set $s "contact-points" $v.cassandra.contactPoints -}}
{{- $_ := set $s "listen" (printf "0.0.0.0:%d" (int $v.cql.port)) -}}
{{- $_ := set $s "topology" $v.cql.topology -}}
{{- if eq $v.cql.topology "fleet" -}}
{{- $members := list -}}
{{- range $i := until (int $v.replicas) -}}
{{- $members = append $members (printf "%s-%d.%s.%s.svc:%d" $name $i $headless $.Release.Namespace (int $v.cql.port)) -}}
{{- end -}}
{{- $_ := set $s "fleet" $members -}}
{{- else -}}
{{- $_ := set $s "advertise" (default (printf "%s.%s.svc" $name .Release.Namespace) $v.cql.advertise) -}}
{{- end -}}
{{- $_ := set $s "admin" (printf "0.0.0.0:%d" (int $v.admin.port)) -}}
{{- $hosts := list -}}
{{- range $service := list $name $headless -}}
{{- range $suffix := list "" (printf ".%s" $.Release.Namespace) (printf ".%s.svc" $.Release.Namespace) (printf ".%s.svc.cluster.local" $.Release.Namespace) -}}
{{- $hosts = append $hosts (print $service $suffix) -}}
{{- end -}}
{{- end -}}
{{- $hosts = append $hosts (printf "*.%s.%s.svc.cluster.local" $headless .Release.Namespace) -}}
{{- $_ := set $s "admin-hosts" (concat $hosts $v.admin.hosts) -}}
{{- if $v.admin.webConfig.existingSecret }}{{ $_ := set $s "admin-web-config" (printf "/etc/helenus/admin/%s" $v.admin.webConfig.key) }}{{ end -}}
{{- if $v.admin.metricsToken }}{{ $_ := set $s "metrics-token" true }}{{ end -}}
{{- $_ := set $s "state-dir" "/var/lib/helenus" -}}
{{- $_ := set $s "drain-timeout" (printf "%ds" (int $v.drain.timeoutSeconds)) -}}
{{- $_ := set $s "drain-grace" (printf "%ds" (int $v.drain.graceSeconds)) -}}
{{- with $v.cql.tls -}}
{{- if .existingSecret -}}
{{- $_ := set $s "listen-tls-cert" (printf "/etc/helenus/listen/%s" .certKey) -}}
{{- $_ := set $s "listen-tls-key" (printf "/etc/helenus/listen/%s" .keyKey) -}}
{{- if .clientCAKey }}{{ $_ := set $s "listen-tls-client-ca" (printf "/etc/helenus/listen/%s" .clientCAKey) }}{{ end -}}
{{- end -}}
{{- end -}}
{{- with $v.cassandra.tls -}}
{{- if .enabled -}}
{{- $_ := set $s "cassandra-tls" true -}}
{{- $_ := set $s "cassandra-tls-verify" .verify -}}
{{- if .serverName }}{{ $_ := set $s "cassandra-tls-server-name" .serverName }}{{ end -}}
{{- if .existingSecret -}}
{{- if .caKey }}{{ $_ := set $s "cassandra-tls-ca" (printf "/etc/helenus/cassandra/%s" .caKey) }}{{ end -}}
{{- if .certKey }}{{ $_ := set $s "cassandra-tls-cert" (printf "/etc/helenus/cassandra/%s" .certKey) }}{{ end -}}
{{- if .keyKey }}{{ $_ := set $s "cassandra-tls-key" (printf "/etc/helenus/cassandra/%s" .keyKey) }}{{ end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if $v.webhooks.console }}{{ $_ := set $s "webhook-console" $v.webhooks.console }}{{ end -}}
{{- toYaml $s -}}
{{- end -}}

{{- /* What would not work is refused when it is installed, not found out afterwards. */ -}}
{{- define "helenus.validate" -}}
{{- if and (gt (int .Values.replicas) 1) (ne .Values.cql.topology "fleet") -}}
{{- fail (printf "replicas is %d, but cql.topology is %s: each process would have changes that the others do not know. Set replicas to 1, or cql.topology to fleet" (int .Values.replicas) .Values.cql.topology) -}}
{{- end -}}
{{- if and .Values.cql.advertise (eq .Values.cql.topology "fleet") -}}
{{- fail "cql.advertise has no effect in topology fleet, where each replica is reached by its own name: leave it empty" -}}
{{- end -}}
{{- if and .Values.service.admin (ne .Values.service.type "ClusterIP") (not .Values.admin.webConfig.existingSecret) -}}
{{- fail (printf "service.type %s would show the admin port outside of the cluster without TLS: set service.admin to false, or give admin.webConfig.existingSecret" .Values.service.type) -}}
{{- end -}}
{{- if ge (int .Values.drain.graceSeconds) (int .Values.drain.timeoutSeconds) -}}
{{- fail "drain.graceSeconds must be less than drain.timeoutSeconds, of which it is a part" -}}
{{- end -}}
{{- $ports := list -}}
{{- range include "helenus.listeners" . | fromYamlArray -}}{{- $ports = append $ports (int .port) -}}{{- end -}}
{{- if has (int .Values.admin.port) $ports -}}
{{- fail (printf "admin.port %d is one of the ports that applications connect to" (int .Values.admin.port)) -}}
{{- end -}}
{{- if and .Values.cassandra.tls.existingSecret (not .Values.cassandra.tls.enabled) -}}
{{- fail "cassandra.tls.existingSecret has no effect unless cassandra.tls.enabled is true" -}}
{{- end -}}
{{- if and .Values.serviceMonitor.enabled .Values.admin.metricsToken (not .Values.serviceMonitor.token.existingSecret) -}}
{{- fail "admin.metricsToken asks for a token: give serviceMonitor.token.existingSecret, the secret with a viewer's (helenus token create prometheus --role viewer)" -}}
{{- end -}}
{{- with .Values.webhooks -}}
{{- if and .existingSecret (not .urlsKey) (not .slackKey) -}}
{{- fail "webhooks.existingSecret is given, but neither urlsKey nor slackKey says where it has addresses" -}}
{{- end -}}
{{- end -}}
{{- end -}}

/** Name of the ConfigMap, and where the pods of Envoy mount it. */
export const SDS_CONFIG_MAP = { name: 'agw-envoy-sds', mount: '/etc/agw/sds' } as const

/** The files of `sdsFiles` as a resource of Kubernetes. */
export const sdsConfigMap = (
  namespace: string,
  data: Readonly<Record<string, string>>,
): Readonly<Record<string, unknown>> => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: SDS_CONFIG_MAP.name, namespace },
  data,
})

const IDS: Readonly<Record<string, RegExp>> = {
  agents: /^[A-Za-z0-9][\w.:-]*$/,
  integrations: /^int_[\w-]+$/,
  scopes: /^(new|scp_[\w-]+)$/,
  activity: /^act_[\w-]+$/,
  requests: /^arq_[\w-]+$/,
  kills: /^kil_[\w-]+$/,
  webhooks: /^whk_[\w-]+$/,
  deliveries: /^dlv_[\w-]+$/,
}

/**
 * Whether a text in a link can be the id of such a resource. Other texts, such as `..` or `export`, would make the
 * page ask another path of the API, in the name of the operator who follows the link.
 */
export const isId = (page: string, id: string): boolean => IDS[page]?.test(id) ?? true

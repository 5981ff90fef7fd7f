/** Name of the policy by which Envoy refuses an allowed call on a route of somebody else: envoy/only-own-routes.ts. */
export const OTHER_ROUTE_POLICY = 'agw-other-route'
/** How Envoy's details of such a refusal begin. */
export const OTHER_ROUTE_DETAILS = `rbac_access_denied_matched_policy[${OTHER_ROUTE_POLICY}`

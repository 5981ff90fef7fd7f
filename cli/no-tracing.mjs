// What the bundles contain of @opentelemetry/api: nothing. prom-client asks it for the current span if exemplars are on, which
// the product does not use; its fifty modules would be read at each start.
export const context = { active: () => undefined }
export const trace = { getSpan: () => undefined }

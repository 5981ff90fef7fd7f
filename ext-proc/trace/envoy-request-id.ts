/** The form of the ids that Envoy gives to calls. A request id that has another is not Envoy's and may hold anything. */
export const ENVOY_REQUEST_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

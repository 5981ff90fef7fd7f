import type { ReceivedRequest, UpstreamRequest, UpstreamResponse } from './received-request.ts'

/** A form-encoded POST in the manner of Stripe. */
export async function formRoutes(
  received: ReceivedRequest,
  _request: UpstreamRequest,
  response: UpstreamResponse,
): Promise<boolean> {
  if (received.method !== 'POST' || received.path !== '/v1/customers') return false
  await received.ended
  const form = new URLSearchParams(received.body.toString())
  response.writeHead(200, { 'content-type': 'application/json', 'request-id': 'req_1' })
  const metadata = { plan: form.get('metadata[plan]') }
  const customer = { id: 'cus_1', object: 'customer', email: form.get('email'), metadata }
  response.end(JSON.stringify(customer))
  return true
}

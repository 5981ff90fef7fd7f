import type { Header } from '../request/header.ts'
import { escapeXml } from './escape-xml.ts'
import type { AwsProtocol, ErrorWriter } from './write-format.ts'

/** XML for S3 and the query protocol; else JSON, whose code is in `__type` and a header. */
export const writeAws: ErrorWriter = ({ error, message, details, request_id }, { status, aws }) => {
  if (aws === 'json')
    return {
      body: JSON.stringify({ __type: error, message, details, request_id }),
      headers: [
        { name: 'x-amzn-errortype', value: error },
        { name: 'x-amzn-requestid', value: request_id },
      ],
    }
  const id = escapeXml(request_id)
  const code = `<Code>${error}</Code><Message>${escapeXml(message)}</Message>`
  const more = `<Details>${escapeXml(JSON.stringify(details))}</Details>`
  const type = `<Type>${status >= 500 ? 'Receiver' : 'Sender'}</Type>`
  const body = {
    s3: `<Error>${code}${more}<RequestId>${id}</RequestId></Error>`,
    ec2: `<Response><Errors><Error>${code}</Error></Errors><RequestID>${id}</RequestID></Response>`,
    query: `<ErrorResponse><Error>${type}${code}${more}</Error><RequestId>${id}</RequestId></ErrorResponse>`,
  }[aws]
  return {
    body: `<?xml version="1.0" encoding="UTF-8"?>\n${body}`,
    content_type: aws === 's3' ? 'application/xml' : 'text/xml',
    headers: [{ name: aws === 's3' ? 'x-amz-request-id' : 'x-amzn-requestid', value: request_id }],
  }
}

const OF_S3: ReadonlySet<string> = new Set(['s3', 's3express', 's3-object-lambda', 's3-outposts'])
const S3_HOST = /(?:^|\.)s3(?:[.-]|express)/
/** Those that also answer to GET, or whose bodies are XML. */
const OF_QUERY: ReadonlySet<string> = new Set(['cloudfront', 'iam', 'route53', 'sts'])

/** @param service of the credential; null if it is no signature */
export function awsProtocol(
  headers: readonly Header[],
  { service, host }: { readonly service: string | null; readonly host: string },
): AwsProtocol {
  if (service === null ? S3_HOST.test(host) : OF_S3.has(service)) return 's3'
  if (service === 'ec2' || host.startsWith('ec2.')) return 'ec2'
  const type = headers.find(({ name }) => name === 'content-type')?.value ?? ''
  const isForm = /^application\/x-www-form-urlencoded/i.test(type.trim())
  return isForm || OF_QUERY.has(service ?? host.split('.', 1)[0] ?? '') ? 'query' : 'json'
}

import { knownUrl } from '../bounded/parse-url.ts'
import { hashOfText } from '../credential/aws/canonical-request.ts'
import { signRequest } from '../credential/aws/sign-request.ts'
import type { Secret } from '../keys/secret.ts'
import { type Egress, postForm } from '../token/post-form.ts'
import { textIn } from './read-vault.ts'

/** Of the deployment. */
export interface AwsAccess {
  readonly region: string
  /** Unless it is that of the region. */
  readonly url: string | null
  readonly access_key_id: string
  readonly secret_access_key: Secret
  readonly session_token: Secret | null
}

const TARGET = 'secretsmanager.GetSecretValue'

/**
 * A secret of AWS Secrets Manager; with a field, this member of its JSON. Null if there is none, or it cannot be read.
 */
export async function readAwsSecret(
  egress: Egress,
  { region, url, session_token, ...keys }: AwsAccess,
  { name, field }: { readonly name: string; readonly field: string | null },
  deadline: AbortSignal,
): Promise<string | null> {
  const to = knownUrl(url ?? `https://secretsmanager.${region}.amazonaws.com/`)
  const body = JSON.stringify({ SecretId: name })
  const own = [
    { name: 'content-type', value: 'application/x-amz-json-1.1' },
    { name: 'x-amz-target', value: TARGET },
  ]
  const signed = signRequest(
    {
      ...keys,
      ...(session_token === null ? {} : { session_token }),
      region,
      service: 'secretsmanager',
    },
    {
      method: 'POST',
      raw_path: to.pathname,
      raw_query: null,
      headers: [{ name: 'host', value: to.host }, ...own],
      payload: hashOfText(body),
    },
    Date.now(),
  )
  const headers = Object.fromEntries([...own, ...signed].map(({ name: n, value }) => [n, value]))
  const answer = await postForm(egress, to.href, { headers, body }, deadline)
  if (answer.kind === 'failed' || answer.status !== 200) return null
  const text = textIn(JSON.parse(answer.body.toString('utf8')), 'SecretString')
  return field === null || text === null ? text : textIn(JSON.parse(text), field)
}

import { AUTHORIZATION } from './authorization.ts'
import { defineCredential } from './credential-type.ts'
import { optionalShown, secret, shown } from './member.ts'
import { signJwt } from './sign-jwt.ts'
import type { TokenNarrowing } from './token-client.ts'

const GITHUB_API = 'https://api.github.com'
/** GitHub refuses a JWT that begins in the future or lasts longer than 10 minutes. */
const BACKDATED_S = 60
const LIFETIME_S = 540
const API_VERSION = '2022-11-28'

/** An installation of a GitHub App. A scope can narrow its tokens to repositories and permissions. */
export const githubApp = defineCredential({
  type: 'github_app',
  label: 'GitHub App',
  sends: '`Authorization: Bearer <installation token>`',
  members: {
    app_id: shown('word'),
    installation_id: shown('word'),
    private_key: secret('private_key'),
    api_url: optionalShown('url'),
  },
  owned: () => AUTHORIZATION,
  application: {
    kind: 'token',
    clientOf: (
      { app_id, installation_id, private_key, api_url = GITHUB_API },
      { agent_id, narrowing },
    ) => {
      const body = JSON.stringify(narrowingOf(narrowing))
      const base = api_url.replace(/\/+$/, '')
      return {
        token_url: `${base}/app/installations/${installation_id}/access_tokens`,
        variant: `${agent_id} ${body}`,
        agent_id,
        revocation_url: `${base}/installation/token`,
        answer: 'github',
        has_styles: false,
        request: async (_, { now_ms }) => {
          const iat = Math.floor(now_ms / 1000) - BACKDATED_S
          const jwt = await signJwt(private_key, { iss: app_id, iat, exp: iat + LIFETIME_S })
          const headers = {
            authorization: `Bearer ${jwt}`,
            accept: 'application/vnd.github+json',
            'content-type': 'application/json',
            'x-github-api-version': API_VERSION,
          }
          return { headers, body }
        },
      }
    },
  },
})

/** In one order, so that two scopes of an agent with the same narrowing share a token. */
function narrowingOf(narrowing: TokenNarrowing | null): TokenNarrowing {
  const { repositories, permissions } = narrowing ?? {}
  return {
    ...(repositories === undefined ? {} : { repositories: [...repositories].sort() }),
    ...(permissions === undefined
      ? {}
      : {
          permissions: Object.fromEntries(
            Object.keys(permissions)
              .sort()
              .map((name) => [name, permissions[name] ?? '']),
          ),
        }),
  }
}

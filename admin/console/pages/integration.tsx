import type { Integration } from '../api-types.ts'
import { ApiHealth } from '../parts/api-health.tsx'
import { describeAuth } from '../parts/auth-fields.tsx'
import { Facts } from '../parts/bits.tsx'
import { Connections } from '../parts/connections.tsx'
import { Loaded } from '../parts/notices.tsx'
import { RoleNote } from '../parts/role-note.tsx'
import { LockButton } from '../parts/stop-dialog.tsx'
import { linkTo } from '../place.ts'
import { useMay } from '../session.ts'
import { useLoad } from '../use-load.ts'

/** An API, and the credentials that calls to it can get in place of its own. */
export function IntegrationPage({ integration_id }: { integration_id: string }) {
  const path = `/admin/integrations/${encodeURIComponent(integration_id)}`
  const integration = useLoad<Integration>(path)
  const mayLock = useMay('operator')
  return (
    <>
      <p>
        <a href={linkTo(['integrations'])}>All integrations</a>
      </p>
      <Loaded from={integration} page="Integration">
        {({ name, base_url, auth }) => (
          <>
            <div class="head">
              <h1>{name}</h1>
              {mayLock && (
                <LockButton about={`the integration ${name}`} target={{ integration_id }} />
              )}
            </div>
            <Facts
              facts={[
                ['base URL', <code key="url">{base_url}</code>],
                ['own credential', describeAuth(auth)],
                [
                  'scopes',
                  <a key="s" href={linkTo(['scopes'], { integration_id })}>
                    View scopes
                  </a>,
                ],
              ]}
            />
            <ApiHealth only={integration_id} />
            <section>
              <h2>Connections</h2>
              <p class="muted">
                A call gets the connection that its scope names, else that of its agent, else that
                of its user, else the credential of the integration.{' '}
                <RoleNote role="admin" to="create and delete connections" />
              </p>
              <Connections path={`${path}/connections`} integration={{ name, base_url }} />
            </section>
          </>
        )}
      </Loaded>
    </>
  )
}

import type { Connection } from '../../core/catalogue/model.ts'
import type { ResourceKind } from '../resources/resource.ts'
import { connectionEvent } from '../../core/activity/connection-event.ts'
import { CONNECTION_RESOURCE } from './connection-schemas.ts'
import { connectionStore } from './connection-store.ts'
import { connectionViews } from './connection-view.ts'

/** What every change of a connection needs. */
export const connectionResource: ResourceKind<Connection> = {
  name: CONNECTION_RESOURCE.name,
  id: CONNECTION_RESOURCE.id,
  store: connectionStore,
  show: connectionViews,
  about: ({ integration_id }) => ({ integration_id }),
  targets: ({ organization_id }) => [{ what: 'integrations', organization_id }],
  needs: () => ['connections'],
  event: ({ context, actor, request_id }, connection, change) =>
    connectionEvent(connection, change, {
      timestamp: context.now().toISOString(),
      email: actor.email,
      source_ip: actor.source_ip,
      request_id,
    }),
}

import { activityRoutes } from '../activity/activity-routes.ts'
import { accessRequestRoutes } from '../requests/access-request-routes.ts'
import { agentRoutes } from '../agents/agent-routes.ts'
import { alertRoutes } from '../alerts/alert-routes.ts'
import { anomalyRoutes } from '../anomaly/anomaly-routes.ts'
import { auditRoutes } from '../audit/audit-routes.ts'
import { caRoutes } from '../certificates/ca-routes.ts'
import { accessMapRoutes } from '../status/access-map-routes.ts'
import { edgeRoutes } from '../status/edge-routes.ts'
import { explainRoutes } from '../try/explain-routes.ts'
import { credentialTypeRoutes } from '../integrations/credential-type-routes.ts'
import { connectRoutes } from '../connections/connect-routes.ts'
import { connectionRoutes } from '../connections/connection-routes.ts'
import { integrationRoutes } from '../integrations/integration-routes.ts'
import { keyRoutes } from '../keys/key-routes.ts'
import { killRoutes } from '../kill/kill-routes.ts'
import { killPreviewRoutes } from '../kill/preview-routes.ts'
import { receiptRoutes } from '../kill/receipt-routes.ts'
import { lockRoutes } from '../kill/lock-routes.ts'
import { oauthRoutes } from '../oauth/oauth-routes.ts'
import { organizationRoutes } from '../organizations/organization-routes.ts'
import { patternRoutes } from '../try/pattern-routes.ts'
import { restoreGapRoutes } from '../restore/restore-gap-routes.ts'
import { scanRoutes } from '../try/scan-routes.ts'
import { scopeRoutes } from '../scopes/scope-routes.ts'
import { selectedRoutes } from '../scopes/selected-routes.ts'
import { statsRoutes } from '../status/stats-routes.ts'
import { whoamiRoutes } from '../access/whoami-routes.ts'
import { tokenRoutes } from '../access/token-routes.ts'
import type { Route } from '../http/define-route.ts'

/** Every call of the admin API. */
export const ROUTES: readonly Route[] = [
  ...agentRoutes,
  ...killRoutes,
  ...receiptRoutes,
  ...killPreviewRoutes,
  ...lockRoutes,
  ...accessRequestRoutes,
  ...keyRoutes,
  ...integrationRoutes,
  ...connectionRoutes,
  ...connectRoutes,
  ...oauthRoutes,
  ...credentialTypeRoutes,
  ...scopeRoutes,
  ...selectedRoutes,
  ...organizationRoutes,
  ...tokenRoutes,
  ...whoamiRoutes,
  ...patternRoutes,
  ...scanRoutes,
  ...explainRoutes,
  ...accessMapRoutes,
  ...edgeRoutes,
  ...caRoutes,
  ...activityRoutes,
  ...alertRoutes,
  ...restoreGapRoutes,
  ...anomalyRoutes,
  ...auditRoutes,
  ...statsRoutes,
]

/** Types of the admin API's responses, taken from its schemas. Imported as types only, so that no schema reaches the browser. */
import type { Static, TSchema } from 'typebox'
import type { CountView, SearchView } from '../activity/activity-routes.ts'
import type { ActivityView } from '../activity/activity-view.ts'
import type { FacetsView, SeriesView } from '../activity/count-view.ts'
import type { Flow as FlowView } from '../activity/flow-routes.ts'
import type { AgentView } from '../agents/agent-schemas.ts'
import type { AlertCauses as AlertCausesView } from '../alerts/alert-causes.ts'
import type { AlertView } from '../alerts/alert-view.ts'
import type { Baseline as BaselineView } from '../anomaly/anomaly-routes.ts'
import type { HeadView, VerificationView } from '../audit/audit-routes.ts'
import type { AccessMap as AccessMapView } from '../status/access-map-routes.ts'
import type { ConnectView } from '../connections/connect-routes.ts'
import type { EdgeView } from '../status/edge-routes.ts'
import type { TrialView } from '../try/explain-routes.ts'
import type { Explanation as ExplanationView } from '../try/explanation.ts'
import type { Readiness as ReadinessView } from '../status/check-readiness.ts'
import type { ListOf } from '../http/common-schemas.ts'
import type { ConnectionView } from '../connections/connection-schemas.ts'
import type { CredentialTypeView } from '../integrations/credential-type-routes.ts'
import type { IntegrationView } from '../integrations/integration-schemas.ts'
import type { KeyView } from '../keys/key-schemas.ts'
import type { KillReceiptView } from '../kill/kill-routes.ts'
import type { KillPreviewView } from '../kill/preview-routes.ts'
import type {
  CreatedLock as CreatedLockView,
  LockPreview as LockPreviewView,
  LockView,
} from '../kill/lock-schemas.ts'
import type { KillView } from '../kill/receipt-routes.ts'
import type { AccessRequestView } from '../requests/access-request-schemas.ts'
import type { OrganizationView } from '../organizations/organization-schemas.ts'
import type { PatternView } from '../try/pattern-routes.ts'
import type { ScanReport as ScanReportView } from '../try/scan-routes.ts'
import type { EditableScope, ScopeView } from '../scopes/scope-schemas.ts'
import type { Whoami } from '../access/whoami-routes.ts'
import type { Stats as StatsView } from '../status/stats-routes.ts'
import type { TokenView } from '../access/token-schemas.ts'
import type { DeliveryDetail, DeliveryView, WebhookView } from '../webhooks/webhook-schemas.ts'

type Frozen<T> = T extends object ? { readonly [K in keyof T]: Frozen<T[K]> } : T
/** A type that is lost would be `any` and allow everything; as `never` it does not compile. */
type Shown<S extends TSchema> = 0 extends 1 & Static<S> ? never : Frozen<Static<S>>

export type Who = Shown<typeof Whoami>
export type Role = Who['role']

type AnyPage = Static<ReturnType<typeof ListOf>>
export type Page<T> = Frozen<Omit<AnyPage, 'data'>> & { readonly data: readonly T[] }

export type Agent = Shown<typeof AgentView>
export type AccessRequest = Shown<typeof AccessRequestView>
export type Receipt = Shown<typeof KillReceiptView>
export type Lock = Shown<typeof LockView>
export type CreatedLock = Shown<typeof CreatedLockView>
export type LockPreview = Shown<typeof LockPreviewView>
export type Kill = Shown<typeof KillView>
export type KillPreview = Shown<typeof KillPreviewView>
export type Trial = Shown<typeof TrialView>
export type Key = Shown<typeof KeyView>
export type CredentialType = Shown<typeof CredentialTypeView>
export type Connection = Shown<typeof ConnectionView>
export type ConnectRequest = Shown<typeof ConnectView>
export type Integration = Shown<typeof IntegrationView>
export type Scope = Shown<typeof ScopeView>
/** The members of a scope that can be changed. */
export type ScopeSettings = Pick<Scope, keyof Static<typeof EditableScope>>
export type Injection = ScopeSettings['injection_detection']
export type Rule = ScopeSettings['rules'][number]
export type ActivityEntry = Shown<typeof ActivityView>
export type FoundEntries = Shown<typeof SearchView>
export type Series = Shown<typeof SeriesView>
export type Facets = Shown<typeof FacetsView>
export type Alert = Shown<typeof AlertView>
export type AlertCauses = Shown<typeof AlertCausesView>
export type AlertCause = AlertCauses['data'][number]
export type Baseline = Shown<typeof BaselineView>
export type AccessMap = Shown<typeof AccessMapView>
export type Flow = Shown<typeof FlowView>
export type Edge = Shown<typeof EdgeView>
export type Stats = Shown<typeof StatsView>
export type Readiness = Shown<typeof ReadinessView>
export type Webhook = Shown<typeof WebhookView>
export type Delivery = Shown<typeof DeliveryView>
export type DeliveryFull = Shown<typeof DeliveryDetail>
export type Token = Shown<typeof TokenView>
export type Organization = Shown<typeof OrganizationView>
export type RefusalCount = Shown<typeof CountView>
export type Pattern = Shown<typeof PatternView>
export type ArchiveEnd = Shown<typeof HeadView>
export type Verification = Shown<typeof VerificationView>
export type Explanation = Shown<typeof ExplanationView>
export type ScanReport = Shown<typeof ScanReportView>

import './bundles/shared.ts'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { ask, type Problem } from './api.ts'
import type { Role, Who } from './api-types.ts'
import { connection, type Reach } from './connection.ts'
import { linkTo, type PageAddress, usePlace } from './place.ts'
import { isId } from './is-id.ts'
import { lazy } from './lazy.tsx'
import { PAGES } from './page-titles.ts'
import { loadEntryDetail } from './parts/entry-drawer.tsx'
import { Finder, loadFindAnything } from './parts/finder.tsx'
import { Guard } from './parts/guard.tsx'
import { HealthBanner } from './parts/health-banner.tsx'
import { ProblemNotice } from './parts/notices.tsx'
import { Shortcuts } from './parts/shortcuts.tsx'
import { ThemeButton } from './parts/theme-button.tsx'
import { TimeStyleButton } from './parts/time-style-button.tsx'
import { pageSecret } from './page-secret.ts'
import { loadFirstSteps, OverviewPage } from './pages/overview.tsx'
import { SignInPage } from './pages/sign-in.tsx'
import { SessionContext } from './session.ts'
import { forgetDrafts } from './use-draft.ts'

// One file for each group, so that the first view is small and no page needs many files. preload.ts begins to load what it needs.
const access = () => import('./bundles/access.ts')
const log = () => import('./bundles/log.ts')
const operation = () => import('./bundles/operation.ts')
const watch = () => import('./bundles/watch.ts')
const PARTS = [access, log, watch, operation, loadFirstSteps, loadFindAnything, loadEntryDetail]
/** After the first view, the others are loaded too: pages then open at once, also after an update of the gateway. */
const OTHERS_AFTER_MS = 5_000
const AccessMapPage = lazy(access, 'AccessMapPage')
const AgentPage = lazy(access, 'AgentPage')
const AgentsPage = lazy(access, 'AgentsPage')
const ConnectPage = lazy(access, 'ConnectPage')
const FlowPage = lazy(access, 'FlowPage')
const IntegrationPage = lazy(access, 'IntegrationPage')
const IntegrationsPage = lazy(access, 'IntegrationsPage')
const RequestsPage = lazy(access, 'RequestsPage')
const ScopePage = lazy(access, 'ScopePage')
const ScopesPage = lazy(access, 'ScopesPage')
const TryPage = lazy(access, 'TryPage')
const ActivityPage = lazy(log, 'ActivityPage')
const AlertsPage = lazy(watch, 'AlertsPage')
const AnomaliesPage = lazy(watch, 'AnomaliesPage')
const SecurityPage = lazy(watch, 'SecurityPage')
const KillPage = lazy(operation, 'KillPage')
const KillsPage = lazy(operation, 'KillsPage')
const SettingsPage = lazy(operation, 'SettingsPage')
const WebhookPage = lazy(operation, 'WebhookPage')
const WebhooksPage = lazy(operation, 'WebhooksPage')

/** How often an unreachable service is checked. */
const RETRY_MS = 3000

/** A page that is shown says itself that it could not be loaded. */
const ignore = (): void => undefined

export function App() {
  const [who, setWho] = useState<Who | null | 'unknown'>('unknown')
  const [reach, setReach] = useState<Reach>(connection.reach)
  useEffect(() => connection.listen(setReach), [])
  const [problem, setProblem] = useState<Problem | null>(null)
  const look = async (): Promise<void> => {
    const answer = await ask<Who | null>('GET', '/session', { isBackground: true })
    if (answer.ok) setWho(answer.value)
    setProblem(answer.ok ? null : answer.problem)
  }
  useEffect(() => {
    void look()
    setTimeout(() => PARTS.forEach((load) => void load().catch(ignore)), OTHERS_AFTER_MS)
  }, [])
  useEffect(() => {
    if (reach !== 'unreachable' && problem === null) return
    const again = (): Promise<unknown> => (who === 'unknown' ? look() : ask('GET', '/healthz'))
    const timer = setInterval(() => void again(), RETRY_MS)
    return () => clearInterval(timer)
  }, [reach, who, problem])
  if (who === 'unknown')
    return problem === null ? <p role="status">Loading …</p> : <ProblemNotice problem={problem} />
  if (who === null || reach === 'session_over')
    return (
      <SignInPage
        isOver={who !== null}
        onSignedIn={(signedIn) => {
          setWho(signedIn)
          connection.signedIn()
        }}
      />
    )
  return (
    <SessionContext.Provider value={who}>
      <Frame who={who} isReached={reach === 'reached'} onSignedOut={() => setWho(null)} />
    </SessionContext.Provider>
  )
}

const Unreachable = () => (
  <div class="banner stale" role="alert">
    The admin service is unreachable. What you see may be old; trying again every few seconds.
  </div>
)

/** What is known about the store stays while the service cannot be reached. */
const Outage = ({ isReached }: { isReached: boolean }) => (
  <>
    {!isReached && <Unreachable />}
    <HealthBanner />
  </>
)

function Frame({
  who,
  isReached,
  onSignedOut,
}: {
  who: Who
  isReached: boolean
  onSignedOut: () => void
}) {
  const place = usePlace()
  const main = useRef<HTMLElement>(null)
  // An entry opens beside the list of activity, which is still the page.
  const path = place.parts[0] === 'activity' ? 'activity' : place.parts.join('/')
  const isFirst = useRef(true)
  const [, title = 'Not found'] = PAGES.find(([page]) => page === (place.parts[0] ?? '')) ?? []
  // Before the next key is handled: a later focus would take it from the search that the key has opened.
  useLayoutEffect(() => {
    document.title = `${title} · Agent Access Gateway`
    // On a narrow screen the pages are one line.
    document.querySelector('nav [aria-current]')?.scrollIntoView({ block: 'nearest' })
    // Screen readers announce a page change; the first page is read from the top anyway.
    if (!isFirst.current) main.current?.focus()
    isFirst.current = false
  }, [path, title, place.repeats])
  const [problem, setProblem] = useState<Problem | null>(null)
  const signOut = async (): Promise<void> => {
    const answer = await ask('DELETE', '/session')
    if (!answer.ok) return setProblem(answer.problem)
    pageSecret.forget()
    forgetDrafts()
    onSignedOut()
  }
  return (
    <>
      <a
        class="skip"
        href="#main"
        onClick={(event) => (event.preventDefault(), main.current?.focus())}
      >
        Skip to content
      </a>
      <Outage isReached={isReached} />
      <div class="frame">
        <header>
          <p class="brand">
            <img src="/dashboard/icon.svg" alt="" width="24" height="24" /> Agent Access Gateway
          </p>
          <Finder key={JSON.stringify(place)} />
          <nav aria-label="Pages">
            <ul>
              {PAGES.map(([page, text]) => (
                <li key={page}>
                  <a
                    href={linkTo(page === '' ? [] : [page])}
                    aria-current={page === (place.parts[0] ?? '') ? 'page' : undefined}
                  >
                    {text}
                  </a>
                </li>
              ))}
            </ul>
          </nav>
          <SignedIn who={who} onSignOut={() => void signOut()} />
        </header>
        <main id="main" tabIndex={-1} ref={main}>
          <ProblemNotice problem={problem} />
          <Guard place={JSON.stringify(place)}>
            <PageOf place={place} />
          </Guard>
        </main>
      </div>
    </>
  )
}

const ROLE_TEXTS: Readonly<Record<Role, string>> = {
  viewer: 'Viewer: read only',
  operator: 'Operator: also kill, approve, acknowledge, test, replay',
  admin: 'Admin: full access',
}

const SignedIn = ({ who, onSignOut }: { who: Who; onSignOut: () => void }) => (
  <details class="signed-in" open={!matchMedia('(max-width: 62rem)').matches}>
    <summary>{who.email}</summary>
    <small class="muted">
      {ROLE_TEXTS[who.role]} · {who.organization_id}
    </small>
    <div class="buttons">
      <ThemeButton />
      <TimeStyleButton />
      <Shortcuts />
      <button type="button" onClick={onSignOut}>
        Sign out
      </button>
    </div>
  </details>
)

function PageOf({ place }: { place: PageAddress }) {
  const { parts, query, repeats } = place
  const [page = '', id] = parts
  if (id !== undefined && !isId(page, id)) return <NotFound />
  // The key creates a new page instance for another resource, and for another action.
  const action = `${query['do']} ${repeats}`
  switch (page) {
    case '':
      return <OverviewPage query={query} />
    case 'agents':
      return id === undefined ? (
        <AgentsPage key={action} query={query} />
      ) : (
        <AgentPage key={`${id} ${action}`} agent_id={id} query={query} />
      )
    case 'integrations':
      return id === undefined ? (
        <IntegrationsPage key={action} query={query} />
      ) : (
        <IntegrationPage key={id} integration_id={id} />
      )
    case 'connect':
      return id === undefined ? <NotFound /> : <ConnectPage key={id} token={id} />
    case 'scopes':
      return id === undefined ? (
        <ScopesPage query={query} />
      ) : (
        <ScopePage key={id} scope_id={id} query={query} />
      )
    case 'map':
      return <AccessMapPage query={query} />
    case 'flow':
      return <FlowPage query={query} />
    case 'activity':
      return <ActivityPage query={query} entry={id} />
    case 'kills':
      return id === undefined ? (
        <KillsPage key={action} query={query} />
      ) : (
        <KillPage key={id} kill_id={id} />
      )
    case 'requests':
      return <RequestsPage key={id ?? query['agent_id']} query={query} request_id={id} />
    case 'anomalies':
      return <AnomaliesPage key={query['agent_id']} query={query} />
    case 'alerts':
      return <AlertsPage query={query} />
    case 'webhooks':
      return id === undefined ? (
        <WebhooksPage key={action} query={query} />
      ) : (
        <WebhookPage key={id} webhook_id={id} query={query} />
      )
    case 'security':
      return <SecurityPage query={query} />
    case 'settings':
      return <SettingsPage query={query} />
    case 'try':
      return <TryPage query={query} />
    default:
      return <NotFound />
  }
}

const NotFound = () => (
  <>
    <h1>Not found</h1>
    <p>
      This page does not exist. <a href="#/">Go to the overview.</a>
    </p>
  </>
)

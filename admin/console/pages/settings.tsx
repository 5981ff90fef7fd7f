import type { ComponentChildren } from 'preact'
import { ArchiveCheck } from '../parts/archive-check.tsx'
import { HealthParts } from '../parts/health-parts.tsx'
import { Keys } from '../parts/keys.tsx'
import { EdgeList } from '../parts/edge-list.tsx'
import { Organizations } from '../parts/organizations.tsx'
import { Tokens } from '../parts/tokens.tsx'
import { linkTo } from '../place.ts'
import { useMay } from '../session.ts'
import { SETTINGS_TABS } from '../settings-tabs.ts'

type Tab = keyof typeof SETTINGS_TABS

export function SettingsPage({ query }: { query: Readonly<Record<string, string>> }) {
  const tab = query['tab'] as Tab | undefined
  const current = tab !== undefined && Object.hasOwn(SETTINGS_TABS, tab) ? tab : 'access'
  return (
    <>
      <div class="head">
        <h1>Settings</h1>
        <nav class="presets" aria-label="Settings">
          {Object.entries(SETTINGS_TABS).map(([key, title]) => (
            <a
              key={key}
              href={linkTo(['settings'], { tab: key })}
              aria-current={key === current ? 'page' : undefined}
            >
              {title}
            </a>
          ))}
        </nav>
      </div>
      <Section of={current} />
    </>
  )
}

function Section({ of }: { of: Tab }) {
  switch (of) {
    case 'access':
      return <AccessSection />
    case 'organizations':
      return (
        <ForAdmins what="Organizations">
          <Organizations />
        </ForAdmins>
      )
    case 'health':
      return (
        <>
          <section>
            <h2>Health</h2>
            <HealthParts />
          </section>
          <section>
            <h2>Edges</h2>
            <EdgeList />
          </section>
        </>
      )
    case 'audit':
      return (
        <section>
          <h2>Archive of the activity log</h2>
          <ArchiveCheck />
        </section>
      )
  }
}

const AccessSection = () => (
  <>
    <ForAdmins what="Admin tokens">
      <Tokens />
    </ForAdmins>
    <section>
      <h2>Organization keys</h2>
      <p class="muted">They do not belong to an agent, so a kill does not revoke them.</p>
      <Keys path="/admin/keys" mayHaveMore ofOrganization />
    </section>
  </>
)

function ForAdmins({ what, children }: { what: string; children: ComponentChildren }) {
  const maySee = useMay('admin')
  return (
    <section>
      <h2>{what}</h2>
      {maySee ? children : <p class="empty">{what} are visible only to the role admin.</p>}
    </section>
  )
}

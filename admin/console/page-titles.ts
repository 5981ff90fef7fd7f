/** The pages of the console, in the order of the menu: path and title. */
export const PAGES: readonly (readonly [path: string, title: string])[] = [
  ['', 'Overview'],
  ['agents', 'Agents'],
  ['integrations', 'Integrations'],
  ['scopes', 'Scopes'],
  ['map', 'Access map'],
  ['flow', 'Live flow'],
  ['activity', 'Activity'],
  ['requests', 'Requests'],
  ['alerts', 'Alerts'],
  ['anomalies', 'Anomalies'],
  ['kills', 'Kills and locks'],
  ['webhooks', 'Webhooks'],
  ['security', 'Security'],
  ['try', 'Policy tester'],
  ['settings', 'Settings'],
]

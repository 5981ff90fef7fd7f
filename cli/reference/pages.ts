import { ROUTES } from '../../admin/server/routes.ts'
import { webhookRoutes } from '../../admin/webhooks/webhook-routes.ts'
import { makeProgram } from '../commands/main.ts'
import { apiPage } from './api-page.ts'
import { cliPage } from './cli-page.ts'
import { clientsPage } from './clients-page.ts'
import { errorsPage } from './errors-page.ts'
import { eventsPage } from './events-page.ts'
import { headersPage } from './headers-page.ts'
import { metricsPage } from './metrics-page.ts'
import { templatesPage } from './templates-page.ts'
import { settingsPage } from '../terminal/settings-page.ts'

/** The pages of docs/reference, all made from catalogues. */
export const referencePages = (): Readonly<Record<string, string>> => ({
  'settings.md': settingsPage(),
  'errors.md': errorsPage(),
  'clients.md': clientsPage(),
  'headers.md': headersPage(),
  'events.md': eventsPage(),
  'metrics.md': metricsPage(),
  'templates.md': templatesPage(),
  'cli.md': cliPage(makeProgram()),
  'api.md': apiPage([...ROUTES, ...webhookRoutes]),
})

/** The gateway itself: loaded when one of them is first shown. */
import '../app.tsx'
export { KillPage } from '../pages/kill.tsx'
export { KillsPage } from '../pages/kills.tsx'
export { SettingsPage } from '../pages/settings.tsx'
export { WebhookPage } from '../pages/webhook.tsx'
export { WebhooksPage } from '../pages/webhooks.tsx'

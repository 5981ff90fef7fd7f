/** The log, its drawer and what is done about an entry: loaded when one of them is first shown. */
import '../app.tsx'
export { ActivityPage } from '../pages/activity.tsx'
export { AlertsPage } from '../pages/alerts.tsx'
export { AnomaliesPage } from '../pages/anomalies.tsx'
export { SecurityPage } from '../pages/security.tsx'

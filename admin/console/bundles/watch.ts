/** What was found in the log: loaded when one of them is first shown. */
import '../app.tsx'
export { AlertsPage } from '../pages/alerts.tsx'
export { AnomaliesPage } from '../pages/anomalies.tsx'
export { SecurityPage } from '../pages/security.tsx'

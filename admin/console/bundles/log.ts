/** The log and its filters: loaded when it is first shown. */
import '../app.tsx'
export { ActivityPage } from '../pages/activity.tsx'

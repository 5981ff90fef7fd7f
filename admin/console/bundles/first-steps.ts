/** Until the first call has passed. */
import '../app.tsx'
export { FirstSteps } from '../parts/first-steps.tsx'

/** What is found is needed when one searches. */
import '../app.tsx'
export { findAnything } from '../find-anything.ts'

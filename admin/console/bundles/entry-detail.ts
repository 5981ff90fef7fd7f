/** The drawer of an entry. */
import '../app.tsx'
export { EntryDetail } from '../parts/entry-detail.tsx'

/** Small files of several parts, which would be a request each: they come with the first view. */
import '../host-of-entry.ts'
import '../named-kinds.ts'
import '../parts/copy-button.tsx'
import '../parts/picker.tsx'
import '../parts/role-note.tsx'
import '../resolve-id.ts'
import '../settings-tabs.ts'
import '../word-of.ts'

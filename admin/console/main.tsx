import { render } from 'preact'
import { theme } from './theme.ts'
import { App } from './app.tsx'
import { keepClicks } from './keep-clicks.ts'
import { pageSecret } from './page-secret.ts'

theme.apply()
keepClicks()
const root = document.getElementById('app')
if (root !== null) {
  root.replaceChildren()
  render(<App />, root)
  // All shown data is dropped, and the next response tells who is signed in.
  pageSecret.onChangeElsewhere(() => location.reload())
}

import { render } from 'preact'
import { App } from './app.tsx'
import { pageSecret } from './page-secret.ts'

const root = document.getElementById('app')
if (root !== null) {
  root.replaceChildren()
  render(<App />, root)
  // Nothing of what was shown stays, and the next answer says who is signed in.
  pageSecret.onChangeElsewhere(() => location.reload())
}

// Passes on what the provider has sent here, in the session of the operator. No address in it is ever opened.
const names = ['state', 'code', 'iss', 'error']
const query = new URLSearchParams(location.search)
history.replaceState(null, '', location.pathname)
const result = document.getElementById('result')
const body = Object.fromEntries(
  names.flatMap((name) => (query.has(name) ? [[name, query.get(name)]] : [])),
)
try {
  const response = await fetch('/admin/oauth/callback', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-agw-client': 'dashboard',
      'x-agw-page-secret': localStorage.getItem('agw_page_secret') ?? '',
    },
    body: JSON.stringify(body),
  })
  const said = await response.json()
  result.textContent = response.ok
    ? `The connection ${said.name} is active. You can close this page.`
    : response.status === 401
      ? 'Sign in to the console in this browser, then ask for consent again.'
      : said.message
  if (response.ok) document.querySelector('a').href = `/#/integrations/${said.integration_id}`
} catch {
  result.textContent = 'The gateway did not respond. Ask for consent again.'
}

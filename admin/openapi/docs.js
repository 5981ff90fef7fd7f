/** Lists the calls of /openapi.json. All text goes in as text, never as markup. */
const element = (name, text, ...children) => {
  const made = document.createElement(name)
  if (text) made.textContent = text
  made.append(...children)
  return made
}

const schemaBlock = (title, schema) =>
  schema ? [element('h4', title), element('pre', JSON.stringify(schema, null, 2))] : []

function describeCall(method, path, call) {
  const title = element('summary', '', element('code', `${method.toUpperCase()} ${path}`))
  title.append(` ${call.summary ?? ''}`)
  const box = element('details', '', title)
  if (call.description) box.append(element('p', call.description))
  const body = call.requestBody?.content?.['application/json']?.schema
  box.append(...schemaBlock('Parameters', call.parameters))
  box.append(...schemaBlock('Request', body))
  for (const [status, answer] of Object.entries(call.responses ?? {})) {
    const schema = answer.content?.['application/json']?.schema
    box.append(...schemaBlock(`Answer ${status}`, schema))
  }
  return box
}

async function show() {
  const answer = await fetch('/openapi.json')
  const api = await answer.json()
  document.getElementById('about').textContent = api.info.description
  const byTag = new Map()
  for (const [path, methods] of Object.entries(api.paths)) {
    for (const [method, call] of Object.entries(methods)) {
      const tag = call.tags?.[0] ?? 'other'
      byTag.set(tag, [...(byTag.get(tag) ?? []), describeCall(method, path, call)])
    }
  }
  const sections = [...byTag].map(([tag, calls]) =>
    element('section', '', element('h2', tag), ...calls),
  )
  document.getElementById('calls').replaceChildren(...sections)
}

show().catch(() => {
  document.getElementById('calls').textContent = 'The API cannot be read at the moment.'
})

// Answers every request with the method and path that Express sees. node express.mjs PORT
import express from 'express'
import methodOverride from 'method-override'

const app = express()
app.use(express.urlencoded({ extended: true }))
app.use(express.json({ strict: false, type: ['json', '+json', 'text/plain'] }))
app.use(methodOverride('_method'))
for (const header of ['X-HTTP-Method', 'X-HTTP-Method-Override', 'X-Method-Override'])
  app.use(methodOverride(header))
// As its manual shows for a form.
app.use(methodOverride((request) => request.body?._method))
app.use((request, response) => {
  response.json({ method: request.method, path: request.path })
})
app.use((_error, _request, response, _next) => {
  response.status(400).json({})
})
app.listen(Number(process.argv[2]), '127.0.0.1')

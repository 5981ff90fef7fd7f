// The shell of a console with the libraries of the proposal, as console-stack.ts builds and measures it.
import { useEffect, useRef } from 'react'
import { createRoot } from 'react-dom/client'
import { QueryClient, QueryClientProvider, useQuery } from '@tanstack/react-query'
import { createHashHistory, createRootRoute, createRoute, createRouter, Link, Outlet, RouterProvider } from '@tanstack/react-router'
import { useVirtualizer } from '@tanstack/react-virtual'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { Button, Cell, Column, ComboBox, Dialog, DialogTrigger, Heading, Input, Label, ListBox, ListBoxItem, Modal, Popover, Row, Table, TableBody, TableHeader, TextField } from 'react-aria-components'
import './style.css'

const client = new QueryClient()
const useStats = () => useQuery({ queryKey: ['stats'], queryFn: async () => (await fetch('/stats')).json(), refetchInterval: 15_000 })

function Chart({ stats }) {
  const at = useRef(null)
  useEffect(() => {
    const plot = new uPlot({ width: 900, height: 200, series: [{}, { label: 'refused', stroke: 'red', fill: 'pink' }] }, [stats.times, stats.refused], at.current ?? undefined)
    return () => plot.destroy()
  }, [stats])
  return <div ref={at} />
}

function Home() {
  const { data } = useStats()
  if (data === undefined) return <p>Loading …</p>
  return (
    <>
      <h1>Overview</h1>
      <Chart stats={data} />
      <Table aria-label="Agents">
        <TableHeader><Column isRowHeader allowsSorting id="name">Agent</Column><Column id="calls" allowsSorting>Calls</Column></TableHeader>
        <TableBody items={data.agents}>{(agent) => <Row id={agent.id}><Cell>{agent.name}</Cell><Cell>{agent.calls}</Cell></Row>}</TableBody>
      </Table>
      <DialogTrigger>
        <Button>Kill …</Button>
        <Modal isDismissable><Dialog>{({ close }) => (
          <><Heading slot="title">Kill the agent?</Heading><TextField><Label>Reason</Label><Input /></TextField><Button onPress={close}>Close</Button></>
        )}</Dialog></Modal>
      </DialogTrigger>
      <ComboBox defaultItems={data.agents}>
        <Label>Agent</Label><Input /><Button aria-label="Show agents">▼</Button>
        <Popover><ListBox>{(agent) => <ListBoxItem id={agent.id}>{agent.name}</ListBoxItem>}</ListBox></Popover>
      </ComboBox>
    </>
  )
}

function Activity() {
  const at = useRef(null)
  const rows = useVirtualizer({ count: 20_000, getScrollElement: () => at.current, estimateSize: () => 32, overscan: 8 })
  return (
    <>
      <h1>Activity</h1>
      <div className="list" ref={at}>
        <div style={{ height: rows.getTotalSize(), position: 'relative' }}>
          {rows.getVirtualItems().map((row) => <div key={row.key} className="row" style={{ transform: `translateY(${row.start}px)` }}>Entry {row.index}</div>)}
        </div>
      </div>
    </>
  )
}

const root = createRootRoute({ component: () => (<><nav><Link to="/">Overview</Link> <Link to="/activity">Activity</Link> <Link to="/agents/$id" params={{ id: 'a1' }}>Agent</Link></nav><main><Outlet /></main></>) })
const home = createRoute({ getParentRoute: () => root, path: '/', component: Home })
const activity = createRoute({ getParentRoute: () => root, path: '/activity', component: Activity })
const agent = createRoute({ getParentRoute: () => root, path: '/agents/$id', component: function Agent() { return <h1>Agent {agent.useParams().id}</h1> } })
const router = createRouter({ routeTree: root.addChildren([home, activity, agent]), history: createHashHistory() })

createRoot(document.getElementById('app')).render(<QueryClientProvider client={client}><RouterProvider router={router} /></QueryClientProvider>)

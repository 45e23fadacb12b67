// Around every page: the places, search, the session and the theme.
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, Outlet, useLocation, useMatches, useNavigate } from '@tanstack/react-router'
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { Button } from 'react-aria-components/Button'
import { Input } from 'react-aria-components/Input'
import { SearchField } from 'react-aria-components/SearchField'
import { API, isSignedOut, send } from '../api.ts'
import { sessionQuery } from '../reads.ts'
import { applyTheme, keptTheme, THEMES } from '../theme.ts'
import { Dialogs } from './dialogs.tsx'
import { Page } from './page.tsx'
import { NeedsScope, useMay } from './scopes.tsx'
import { Empty, Failure } from './states.tsx'
import { TIME_ZONE } from './values.tsx'

const PLACES = [
  ['/', 'Home'],
  ['/orders', 'Orders'],
  ['/users', 'Users'],
  ['/connections', 'Connections'],
  ['/events', 'Events'],
  ['/endpoints', 'Endpoints'],
  ['/deliveries', 'Deliveries'],
  ['/requests', 'Requests'],
  ['/audit', 'Audit'],
  ['/platforms', 'Platforms'],
  ['/sandbox', 'Sandbox'],
  ['/trade', 'Trade']
] as const

/** The frame of the console. */
export function Shell(): ReactNode {
  const { pathname } = useLocation()
  const [isOpen, setIsOpen] = useState(false)
  const mayShow = useMayShow()
  const content = useRef<HTMLElement>(null)
  const shownPath = useRef(pathname)
  useEffect(() => {
    if (shownPath.current === pathname) return
    shownPath.current = pathname
    setIsOpen(false)
    // As a new document would: the keyboard and a screen reader begin at the new page.
    content.current?.focus()
  }, [pathname])
  return (
    <Dialogs>
      <a className="skip" href="#content">
        Skip to the content
      </a>
      <header className={isOpen ? 'bar open' : 'bar'}>
        <Link to="/" className="name">
          Trunkline
        </Link>
        <Button className="button menu-button" aria-expanded={isOpen} aria-controls="places" onPress={() => setIsOpen(!isOpen)}>
          Menu
        </Button>
        <Search />
        <Account />
      </header>
      <div className="columns">
        <nav id="places" className={isOpen ? 'places open' : 'places'} aria-label="Console">
          <ul>
            {PLACES.map(([to, name]) => (
              <li key={to}>
                <Link to={to} activeOptions={{ exact: to === '/', includeSearch: false }} activeProps={{ 'aria-current': 'page' }}>
                  {name}
                </Link>
              </li>
            ))}
            <li>
              <a href="/docs">Reference</a>
            </li>
          </ul>
          <p className="hint">Times are in {TIME_ZONE}.</p>
        </nav>
        <main id="content" ref={content} tabIndex={-1}>
          {mayShow ? <Outlet /> : <NoRead />}
        </main>
      </div>
    </Dialogs>
  )
}

/** Whether the session may read what its page shows. The page of the sandbox reads by another scope, and says so itself. */
function useMayShow(): boolean {
  const isOfSandbox = useMatches({ select: matches => matches.some(({ routeId }) => routeId === '/sandbox') })
  return useMay('read') || isOfSandbox
}

/** In place of a page, which would be refused at each of its requests. */
function NoRead(): ReactNode {
  return (
    <Page title="No scope to read">
      <Empty>
        <NeedsScope scope="read" />
      </Empty>
    </Page>
  )
}

/** By any id. Ctrl or ⌘ with K goes there. */
function Search(): ReactNode {
  const navigate = useNavigate()
  const input = useRef<HTMLInputElement>(null)
  const [text, setText] = useState('')
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return
      event.preventDefault()
      input.current?.select()
      input.current?.focus()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const q = text.trim()
    if (q !== '') void navigate({ to: '/search', search: { q } })
  }
  return (
    <search className="search">
      <form onSubmit={submit}>
        <SearchField className="search-field" aria-label="Search by any id" value={text} onChange={setText}>
          <Input ref={input} className="input" placeholder="Any id" aria-keyshortcuts="Control+K Meta+K" />
        </SearchField>
        <Button className="button" type="submit">
          Search
        </Button>
      </form>
    </search>
  )
}

function Account(): ReactNode {
  const { data: session } = useQuery(sessionQuery)
  const [theme, setTheme] = useState(keptTheme)
  const signOut = useMutation({
    mutationFn: () => send({ method: 'DELETE', path: `${API}/session` }),
    // A new document: nothing of the session's answers stays in memory.
    onSuccess: () => location.assign('/console/'),
    onError: error => {
      if (isSignedOut(error)) location.assign('/console/')
    }
  })
  return (
    <div className="account">
      <label>
        <span className="unseen">Colours</span>
        <select
          className="input"
          value={theme}
          onChange={event => {
            const chosen = THEMES.find(each => each === event.target.value) ?? 'system'
            setTheme(chosen)
            applyTheme(chosen)
          }}
        >
          <option value="system">System</option>
          <option value="light">Light</option>
          <option value="dark">Dark</option>
        </select>
      </label>
      <span className="operator">{session?.operator}</span>
      <Button className="button" onPress={() => signOut.mutate()} isDisabled={signOut.isPending}>
        Sign out
      </Button>
      {signOut.error !== null && <Failure error={signOut.error} />}
    </div>
  )
}

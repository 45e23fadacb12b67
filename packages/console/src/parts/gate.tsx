// Without a session there is the login and nothing else.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useEffect, useState } from 'react'
import { Button } from 'react-aria-components/Button'
import { Input } from 'react-aria-components/Input'
import { Label } from 'react-aria-components/Label'
import { Text } from 'react-aria-components/Text'
import { TextField } from 'react-aria-components/TextField'
import { API, isSignedOut, send } from '../api.ts'
import type { LinkCode } from '../link-code.ts'
import { codeFrom } from '../login-code.ts'
import { sessionQuery } from '../reads.ts'
import { Failure, Reading } from './states.tsx'

interface GateProps {
  /** Of the link that opened this page. */
  readonly code: LinkCode
  readonly children: ReactNode
}

/** Shows its content to a session. A code is used only where there is none: it never replaces a session. */
export function Gate({ code, children }: GateProps): ReactNode {
  const session = useQuery(sessionQuery)
  const isSignedIn = session.data !== undefined && !isSignedOut(session.error)
  useEffect(() => (isSignedIn ? code.receive(() => undefined) : undefined), [isSignedIn, code])
  if (isSignedIn) return children
  if (isSignedOut(session.error)) return <Login code={code} />
  return (
    <LoginFrame>
      {session.error === null ? <Reading what="your session" /> : <Failure error={session.error} again={() => void session.refetch()} />}
    </LoginFrame>
  )
}

const NEW_LINK = 'A code works once and for ten minutes. Create another link with the command above.'

function Login({ code }: Pick<GateProps, 'code'>): ReactNode {
  const [pasted, setPasted] = useState('')
  const queries = useQueryClient()
  const exchange = useMutation({
    mutationFn: (given: string) => send({ method: 'POST', path: `${API}/sessions`, body: { code: given } }),
    // All of them: what an earlier session of this page read is not shown to another one.
    onSuccess: () => queries.resetQueries()
  })
  const { mutate } = exchange
  useEffect(() => code.receive(mutate), [code, mutate])
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (pasted.trim() !== '') mutate(codeFrom(pasted))
  }
  return (
    <LoginFrame>
      <p>
        Run <code>npm run cli -- operator link</code> on the machine of the service. Open the link that it prints, or paste it here. It is
        valid for ten minutes and once.
      </p>
      {exchange.error !== null && <Failure error={exchange.error} advice={isSignedOut(exchange.error) ? NEW_LINK : undefined} />}
      <form onSubmit={submit}>
        <TextField className="field" type="password" value={pasted} onChange={setPasted} autoComplete="one-time-code" isRequired autoFocus>
          <Label>Link or code</Label>
          <Input className="input" />
          <Text slot="description" className="hint">
            It is sent to this service only, and never becomes part of an address.
          </Text>
        </TextField>
        <Button className="button primary" type="submit" isDisabled={exchange.isPending}>
          {exchange.isPending ? 'Signing in…' : 'Sign in'}
        </Button>
      </form>
    </LoginFrame>
  )
}

function LoginFrame({ children }: { readonly children: ReactNode }): ReactNode {
  return (
    <main className="login">
      <h1>Trunkline console</h1>
      {children}
    </main>
  )
}

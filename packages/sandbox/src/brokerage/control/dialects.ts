/** The control API's routes for the dialects that the sandbox serves besides its own API. */

import type { Dialect } from '../dialect.ts'
import { Problem } from '../problems.ts'
import { dialectNamed } from './logins.ts'
import type { ControlRoute } from './server.ts'

export function dialectRoutes(dialects: readonly Dialect[]): readonly ControlRoute[] {
  const shown = ({ name, limits }: Dialect) => ({ name, limits: limits?.shown() ?? {} })
  return [
    { method: 'GET', path: '/dialects', handle: () => ({ items: dialects.map(shown) }) },
    {
      method: 'PUT',
      path: '/dialects/:id',
      handle: ({ param, body }) => {
        const dialect = dialectNamed(dialects, param)
        if (dialect.limits === undefined) throw new Problem('bad_request', `${dialect.name} has no configurable limits`)
        dialect.limits.set(body)
        return { dialect: shown(dialect) }
      }
    }
  ]
}

/** Lists that are the same for every customer: routes and activation triggers; and what is not emulated, which answers an error. */

import { Problem } from '../../brokerage/problems.ts'
import type { DialectRoute } from '../frame/router.ts'
import { json } from './protocol.ts'

const ROUTES = [{ Id: 'Intelligent', Name: 'Intelligent', AssetTypes: ['STOCK', 'STOCKOPTION', 'INDEXOPTION', 'FUTURE'] }]
const TRIGGERS = [
  { Key: 'STT', Name: 'Single Trade Tick', Description: 'One trade tick must print within your stop price to trigger your stop.' },
  { Key: 'STTN', Name: 'Single Trade Tick Within NBBO', Description: 'One trade tick within the National Best Bid or Offer must print.' },
  { Key: 'SBA', Name: 'Single Ask/Bid Tick', Description: 'One Ask or Bid tick must print within your stop price.' }
]

export function lists(): readonly DialectRoute[] {
  const path = '/orderexecution'
  return [
    { method: 'GET', path: `${path}/routes`, operation: 'instruments.list', handle: () => json({ Routes: ROUTES }) },
    {
      method: 'GET',
      path: `${path}/activationtriggers`,
      operation: 'instruments.list',
      handle: () => json({ ActivationTriggers: TRIGGERS })
    },
    { method: 'POST', path: `${path}/ordergroups`, operation: 'orders.submit', handle: notHere },
    { method: 'POST', path: `${path}/ordergroupconfirm`, operation: 'orders.find', handle: notHere },
    { method: 'POST', path: '/marketdata/options/riskreward', operation: 'instruments.list', handle: notHere }
  ]
}

function notHere(): never {
  throw new Problem('bad_request', 'This is not emulated by the sandbox', { status: 501 })
}

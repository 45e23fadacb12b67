import { LocalBus } from '@trunkline/core/app/local-bus'
import { busContract, listening } from '@trunkline/testkit/bus-contract/index'

const quiet = { debug() {}, info() {}, warn() {}, error() {} }

busContract('the bus of a single node', async () => ({
  nodes: [listening(new LocalBus(quiet))],
  encode: () => new Uint8Array(),
  async settled() {},
  async [Symbol.asyncDispose]() {}
}))

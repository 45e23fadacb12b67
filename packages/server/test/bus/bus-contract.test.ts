import { busContract } from '@trunkline/testkit/bus-contract/index'
import { threeNodes } from './stage.ts'

busContract('NATS', threeNodes)

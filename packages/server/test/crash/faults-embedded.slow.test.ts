import { orderFaults } from './faults.ts'

orderFaults('embedded')

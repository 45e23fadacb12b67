import { orderFaults } from './faults.ts'

orderFaults('postgres')

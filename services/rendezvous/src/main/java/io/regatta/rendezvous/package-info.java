/**
 * The rendezvous service: groups of ranks, their generations, gathers and a store of keys. Trainers, servers and
 * tools reach it over gRPC; its main and the fleet deploy its verticle. Part of the public API.
 */
package io.regatta.rendezvous;

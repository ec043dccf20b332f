/**
 * The clients of control calls: one for the rendezvous, one for parameter servers, and the view of a group that a
 * watcher keeps. Nodes, trainers and commands call them.
 */
package io.regatta.protocol.client;

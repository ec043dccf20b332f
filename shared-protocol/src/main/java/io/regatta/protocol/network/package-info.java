/**
 * The way from one process to others: control calls and streams of tensors behind one interface, and its binding to
 * Vert.x. All clients of services call it, and a simulation replaces it.
 */
package io.regatta.protocol.network;

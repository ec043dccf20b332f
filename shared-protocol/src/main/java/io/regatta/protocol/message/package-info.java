/**
 * The translation between the types of core and the messages of control calls and gathers. Clients and services call
 * it at their edge.
 */
package io.regatta.protocol.message;

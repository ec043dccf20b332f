/**
 * The view of a process for people and monitoring: {@link io.regatta.node.admin.Waits} for {@code /why}, {@link
 * io.regatta.node.admin.Hosted} for {@code /ready}, health, metrics. Nodes own it; services add their parts.
 * Part of the public API.
 */
package io.regatta.node.admin;

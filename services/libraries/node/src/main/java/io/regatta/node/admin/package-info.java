/**
 * What a process shows of itself, to people and to monitoring: {@link io.regatta.node.admin.Waits} behind {@code /why},
 * {@link io.regatta.node.admin.Hosted} behind {@code /ready}, health, metrics.
 */
package io.regatta.node.admin;

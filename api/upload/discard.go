package upload

// discardRepeated reads the rest of a body whose build is there already: its sender must not
// take a broken connection for a failure. The pace of the body bounds the time, and the
// limit of the body its bytes.
func (r *receiver) discardRepeated() {
	if r.c.Request.Body == nil || r.body == nil && r.c.Request.Header.Get("Expect") != "" {
		return // the sender waits for leave to send
	}
	buf := make([]byte, 64<<10)
	for n, limit := int64(0), r.cfg.maxBody(); n < limit; {
		m, err := r.c.Request.Body.Read(buf)
		if n += int64(m); err != nil {
			return
		}
	}
}

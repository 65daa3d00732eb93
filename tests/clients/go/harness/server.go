package harness

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"sync/atomic"
	"syscall"
)

// A Server is a `vedette serve` that is killed and started again on the same data. Each start
// takes a free port, so that nobody else's can be in the way; who dials asks for it.
type Server struct {
	Binary, Data string
	command      *exec.Cmd
	door         atomic.Value // string
}

var readyLine = regexp.MustCompile(`^ready .*https://([0-9.:]+)`)

// Start returns when it is ready.
func (s *Server) Start(options ...string) error {
	log, err := os.OpenFile(s.Data+".log", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	arguments := []string{"serve", "--data", s.Data, "--listen", "off", "--tls-listen", "127.0.0.1:0"}
	s.command = exec.Command(s.Binary, append(arguments, options...)...)
	s.command.Stderr = log
	// It goes with this program, however that ends.
	s.command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	output, err := s.command.StdoutPipe()
	if err != nil {
		return err
	}
	if err := s.command.Start(); err != nil {
		return err
	}
	for lines := bufio.NewScanner(output); lines.Scan(); {
		if found := readyLine.FindStringSubmatch(lines.Text()); found != nil {
			s.door.Store(found[1])
			return nil
		}
	}
	return fmt.Errorf("the server did not start: %v; see its log", s.command.Wait())
}

// Door is where it listens, or did.
func (s *Server) Door() string { return s.door.Load().(string) }

// TLS is a client's configuration: the administrator's certificate, and the CA of the server, whose
// own certificate is good for 127.0.0.1.
func (s *Server) TLS() (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(s.Data+"/pki/admin.crt", s.Data+"/pki/admin.key")
	if err != nil {
		return nil, err
	}
	ca, err := os.ReadFile(s.Data + "/pki/ca.crt")
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(ca) {
		return nil, errors.New("no certificate in ca.crt")
	}
	return &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}}, nil
}

// Signal sends one that does not end it.
func (s *Server) Signal(signal syscall.Signal) error { return s.command.Process.Signal(signal) }

// Kill is kill -9, and it is gone.
func (s *Server) Kill() error {
	if err := s.command.Process.Kill(); err != nil {
		return err
	}
	var exit *exec.ExitError
	if err := s.command.Wait(); !errors.As(err, &exit) {
		return fmt.Errorf("kill -9 ended it with %v", err)
	}
	return nil
}

// Terminate is SIGTERM; it must end well.
func (s *Server) Terminate() error {
	if err := s.command.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return s.command.Wait()
}

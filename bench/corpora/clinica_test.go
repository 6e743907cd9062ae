//nolint:misspell // Spanish
package main

import "time"

// clinica is a hospital with Spanish names: people by the numbers that the state, or a college, gave them; a room is called by its centre and a number; UUIDs for what happens; what was measured with the
// patient in a static column; allergies, interactions of drugs with drugs, and duties, which are pairs with something more.
var clinica = application{
	name: "clinica",
	model: `
Paciente 2200 *historia_no:text nombre:text dni:text correo:text nacido:date/3000 domicilio:direccion
Especialidad 25 *cod_esp:text nombre:text
Medico 160 *colegiado:text nombre:text telefono:text especialidad->Especialidad.medicos
Centro 12 *cod_centro:text nombre:text ciudad:text/8
Sala 240 *centro->Centro.salas *sala:int@centro planta:int/6
Cita 6000 *id_cita:uuid fecha:date/60 hora:timestamp estado:text/5 paciente->Paciente.citas medico->Medico.citas sala->Sala.citas
Ingreso 1500 *ingreso_id:uuid alta:date/90 motivo:text paciente->Paciente.ingresos medico->Medico.ingresos centro->Centro.ingresos
Enfermedad 400 *cie10:text descripcion:text padre->Enfermedad.hijas?0.1
Diagnostico 3500 *ingreso->Ingreso.diagnosticos *orden:int@ingreso certeza:text/3 enfermedad->Enfermedad.diagnosticos
Medicamento 350 *cn:int nombre:text laboratorio:text/40
Receta 4500 *receta_id:timeuuid emitida:date/90 paciente->Paciente.recetas medico->Medico.recetas
Linea 8000 *receta->Receta.lineas *linea:int@receta dosis:text/20 medicamento->Medicamento.lineas
Alergia 1200 *paciente->Paciente.alergias *medicamento->Medicamento.alergicos gravedad:text/3
Interaccion 800 *uno->Medicamento.interacciones *otro->Medicamento.interactuan nivel:text/3
Constante 9000 *ingreso->Ingreso.constantes *tomada:timestamp tipo:text/6 valor:double
Guardia 2000 *medico->Medico.guardias *dia:date@medico centro->Centro.guardias
Usuario 300 *login:text nombre:text medico->Medico.usuarios?0.5
Rol 10 *rol:text explicacion:text
UsuarioRol 600 *usuario->Usuario.roles *rol->Rol.usuarios
Acceso 9000 *momento:timeuuid mes:int<momento/800 objeto:text/2 objeto_id:uuid=Cita|Ingreso usuario->Usuario.accesos
Sesion 1500 *sesion_id:uuid caduca:timestamp usuario->Usuario.sesiones
Informe 3000 *informe_id:uuid titulo:text cita->Cita.informes autor->Medico.informes`,
	normal: `
pacientes(Paciente): historia_no | | nombre dni correo nacido domicilio
pacientes_por_dni(Paciente): dni | | historia_no nombre
especialidades(Especialidad): cod_esp | | nombre
medicos(Medico): num_colegiado=colegiado | | nombre telefono cod_esp=especialidad
medicos_por_especialidad(Medico): cod_esp=especialidad | num_colegiado=colegiado | nombre
centros(Centro): cod_centro | | nombre ciudad
salas(Sala): cod_centro=centro | sala | planta
citas(Cita): id_cita | | fecha hora estado historia_no=paciente num_colegiado=medico cod_centro=sala.centro sala=sala.sala
citas_por_medico(Cita): num_colegiado=medico fecha | hora id_cita | estado historia_no=paciente nombre_paciente=paciente.nombre
citas_por_paciente(Cita): historia_no=paciente | -hora id_cita | estado num_colegiado=medico nombre_medico=medico.nombre
ingresos(Ingreso): ingreso_id | | alta motivo historia_no=paciente num_colegiado=medico cod_centro=centro
ingresos_por_paciente(Ingreso): historia_no=paciente | ingreso_id | alta motivo
enfermedades(Enfermedad): cie10 | | descripcion cie10_padre=padre
enfermedades_por_padre(Enfermedad): cie10_padre=padre | cie10 | descripcion
diagnosticos(Diagnostico): ingreso_id=ingreso | orden | certeza cie10=enfermedad
diagnosticos_por_enfermedad(Diagnostico): cie10=enfermedad | ingreso_id=ingreso orden | certeza
medicamentos(Medicamento): cn | | nombre laboratorio
recetas(Receta): receta_id | | emitida historia_no=paciente num_colegiado=medico
recetas_por_paciente(Receta): historia_no=paciente | -receta_id | emitida num_colegiado=medico
lineas_receta(Linea): receta_id=receta | linea | dosis cn=medicamento nombre_medicamento=medicamento.nombre
alergias(Alergia): historia_no=paciente | cn=medicamento | gravedad
interacciones(Interaccion): cn=uno | cn_otro=otro | nivel
constantes(Constante): ingreso_id=ingreso | -tomada | tipo valor !historia_no=ingreso.paciente
guardias(Guardia): num_colegiado=medico | dia | cod_centro=centro
guardias_por_centro(Guardia): cod_centro=centro dia | num_colegiado=medico | nombre=medico.nombre
usuarios(Usuario): login | | nombre num_colegiado=medico
roles(Rol): rol | | explicacion
usuarios_roles(UsuarioRol): login=usuario | rol=rol
accesos(Acceso): login=usuario mes | -momento | objeto objeto_id
sesiones(Sesion): sesion_id | | caduca login=usuario
informes(Informe): informe_id | | titulo id_cita=cita autor=autor
informes_por_cita(Informe): id_cita=cita | informe_id | titulo`,
	grown: func(s *site) []chore {
		const web, planta, noche = 1, 2, 3
		medico := func(c *client, f *frame) {
			if !c.cached("medico", f, 150*time.Millisecond) {
				c.get("medicos", f, "nombre telefono especialidad")
			}
		}
		return []chore{
			s.call(14, web, func(c *client) {
				f := c.get("pacientes_por_dni", c.any("Paciente"), "historia_no nombre")
				f = c.get("pacientes", f, "*")
				for _, x := range c.list("citas_por_paciente", f, "paciente", "hora id_cita estado medico medico.nombre limit 6") {
					if c.chance(0.4) {
						y := c.get("citas", x, "*")
						c.get("salas", y.with("sala"), "planta")
					}
				}
			}),
			s.call(12, web, func(c *client) {
				for _, x := range c.page("citas_por_medico", c.any("Cita"), "hora id_cita estado paciente paciente.nombre limit 8") {
					if c.chance(0.5) {
						c.get("pacientes", x.to("paciente"), "nombre nacido")
						for _, a := range c.list("alergias", x.to("paciente"), "paciente", "medicamento gravedad") {
							c.get("medicamentos", a.to("medicamento"), "nombre")
						}
					}
				}
			}),
			s.call(12, planta, func(c *client) {
				f := c.get("ingresos", c.any("Ingreso"), "*")
				c.get("pacientes", f.to("paciente"), "nombre nacido")
				medico(c, f.to("medico"))
				for _, x := range c.list("diagnosticos", f, "ingreso", "*") {
					c.get("enfermedades", x.to("enfermedad"), "descripcion")
				}
				c.list("constantes", f, "ingreso", "tomada tipo valor limit 10")
			}),
			s.call(8, planta, func(c *client) {
				f := c.get("pacientes", c.any("Paciente"), "nombre")
				for _, x := range c.list("ingresos_por_paciente", f, "paciente", "ingreso_id alta motivo") {
					if c.chance(0.6) {
						c.list("diagnosticos", x, "ingreso", "*")
					}
				}
				for _, x := range c.list("recetas_por_paciente", f, "paciente", "receta_id emitida medico limit 5") {
					medico(c, x.to("medico"))
					if c.chance(0.5) {
						c.list("lineas_receta", x, "receta", "linea dosis medicamento medicamento.nombre")
					}
				}
			}),
			s.call(8, web, func(c *client) {
				f := c.get("recetas", c.any("Receta"), "*")
				c.get("pacientes", f.to("paciente"), "nombre dni")
				for _, x := range c.list("lineas_receta", f, "receta", "*") {
					m := c.get("medicamentos", x.to("medicamento"), "*")
					if c.chance(0.3) {
						for _, y := range c.list("interacciones", m, "uno", "otro nivel limit 5") {
							c.get("medicamentos", y.to("otro"), "nombre")
						}
					}
				}
			}),
			s.call(5, web, func(c *client) {
				f := c.get("especialidades", c.any("Especialidad"), "nombre")
				c.list("medicos_por_especialidad", f, "especialidad", "colegiado nombre")
			}),
			s.call(5, web, func(c *client) {
				f := c.get("medicos", c.any("Medico"), "*")
				c.get("especialidades", f.to("especialidad"), "nombre")
				for _, x := range c.list("guardias", f, "medico", "dia centro limit 4") {
					c.get("centros", x.to("centro"), "nombre")
				}
			}),
			s.call(3, planta, func(c *client) {
				f := c.any("Guardia")
				for _, x := range c.page("guardias_por_centro", f, "medico medico.nombre") {
					medico(c, x.to("medico"))
				}
			}),
			s.call(5, planta, func(c *client) {
				f := c.get("enfermedades", c.any("Enfermedad"), "*")
				if p := f.to("padre"); p != nil {
					c.get("enfermedades", p, "descripcion")
				}
				c.list("enfermedades_por_padre", f, "padre", "cie10 descripcion limit 10")
				for _, x := range c.list("diagnosticos_por_enfermedad", f, "enfermedad", "ingreso orden certeza limit 6") {
					c.get("ingresos", x.to("ingreso"), "motivo paciente")
				}
			}),
			s.call(8, web, func(c *client) {
				f := c.get("sesiones", c.any("Sesion"), "*")
				f = c.get("usuarios", f.to("usuario"), "*")
				if m := f.to("medico"); m != nil {
					medico(c, m)
				}
				for _, x := range c.list("usuarios_roles", f, "usuario", "rol") {
					c.get("roles", x.to("rol"), "explicacion")
				}
			}),
			s.call(4, web, func(c *client) {
				f := c.get("citas", c.any("Cita"), "fecha estado paciente")
				for _, x := range c.list("informes_por_cita", f, "cita", "informe_id titulo") {
					x = c.get("informes", x, "*")
					medico(c, x.to("autor"))
				}
			}),
			s.call(2, noche, func(c *client) {
				f := c.get("usuarios", c.any("Usuario"), "nombre")
				c.list("accesos", f, "usuario", "momento objeto objeto_id limit 10")
			}),
			s.call(2, web, func(c *client) {
				f := c.get("salas", c.any("Sala"), "planta")
				c.get("centros", f.to("centro"), "*")
			}),
			s.call(4, web, func(c *client) {
				c.make("Cita", true, "citas citas_por_medico citas_por_paciente", map[string]*frame{"paciente": c.any("Paciente")})
			}),
			s.call(5, planta, func(c *client) {
				i := c.get("ingresos", c.any("Ingreso"), "paciente")
				c.make("Constante", false, "constantes", map[string]*frame{"ingreso": i})
			}),
			s.call(2, planta, func(c *client) {
				i := c.make("Ingreso", true, "ingresos ingresos_por_paciente", nil)
				c.make("Diagnostico", true, "diagnosticos diagnosticos_por_enfermedad", map[string]*frame{"ingreso": i})
			}),
			s.call(3, web, func(c *client) {
				r := c.make("Receta", true, "recetas recetas_por_paciente", nil)
				for range 2 {
					c.make("Linea", false, "lineas_receta", map[string]*frame{"receta": r})
				}
			}),
			s.call(5, web, func(c *client) { c.make("Acceso", false, "accesos", nil) }),
			s.call(2, web, func(c *client) { c.make("Sesion", false, "sesiones", nil) }),
			s.call(2, web, func(c *client) { c.make("Informe", true, "informes informes_por_cita", nil) }),
			s.call(1, noche, func(c *client) { c.make("Guardia", true, "guardias guardias_por_centro", nil) }),
			s.call(1, web, func(c *client) { c.make("Alergia", false, "alergias", nil) }),
			s.call(3, web, func(c *client) { c.set(c.any("Cita"), "estado", true, "citas citas_por_medico citas_por_paciente") }),
			s.call(1, web, func(c *client) { c.make("Paciente", true, "pacientes pacientes_por_dni", nil) }),
		}
	},
}
